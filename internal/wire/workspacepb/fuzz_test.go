package workspacepb_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
)

// FuzzAnswers converts what a server answers as a client does: descriptions, errors and paths. What
// is accepted keeps the promises of package workspace, and survives the way back.
func FuzzAnswers(f *testing.F) {
	for _, m := range []proto.Message{
		&workspacev1.FileInfo{Name: "a", Kind: workspacev1.FileKind_FILE_KIND_LINK, Permissions: 0o777, Size: 3, ModifiedUnixNanos: -1, Target: "../b", Version: "1"},
		&workspacev1.FileInfo{Name: "..", Kind: workspacev1.FileKind_FILE_KIND_FOLDER},
		&workspacev1.FileInfo{Name: "a/b", Kind: 99, Permissions: 0o4777, Size: 1 << 63, Version: strings.Repeat("v", 300)},
		&workspacev1.NameError{Reason: workspacev1.NameError_REASON_OUTSIDE, Message: "a\x1b[2J\nb" + strings.Repeat("é", 4000)},
		&workspacev1.DescribeResponse{Paths: []string{"/workspace", "/a/../b", "a", "/\x00"}},
	} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var info workspacev1.FileInfo
		if proto.Unmarshal(data, &info) == nil {
			checkInfo(t, &info)
		}
		var named workspacev1.NameError
		if proto.Unmarshal(data, &named) == nil {
			checkError(t, &named)
		}
		var described workspacev1.DescribeResponse
		if proto.Unmarshal(data, &described) == nil && workspacepb.CheckPaths(described.GetPaths()) == nil {
			for _, p := range described.GetPaths() {
				if !path.IsAbs(p) || path.Clean(p) != p || len(described.GetPaths()) > 8 {
					t.Errorf("the paths %q are accepted", described.GetPaths())
				}
			}
		}
	})
}

// checkInfo checks the conversion of a description.
func checkInfo(t *testing.T, m *workspacev1.FileInfo) {
	info, err := workspacepb.ToInfo(m)
	entry, entryErr := workspacepb.ToEntry(m)
	if entryErr == nil && (err != nil || entry != info || entry.Name == "" || entry.Name == "." || entry.Name == "..") {
		t.Errorf("the entry %+v is accepted, and the description %+v, %v", entry, info, err)
	}
	if err != nil {
		return
	}
	if strings.ContainsAny(info.Name, "/\x00") || info.Size < 0 || info.Mode&^(fs.ModeType|fs.ModePerm) != 0 {
		t.Errorf("the description %+v is accepted", info)
	}
	again, err := workspacepb.ToInfo(workspacepb.FromInfo(info))
	if again.ModTime = again.ModTime.In(time.UTC); err != nil || !again.ModTime.Equal(info.ModTime) {
		t.Fatalf("%+v became %+v, %v", info, again, err)
	}
	if again.ModTime = info.ModTime; again != info {
		t.Errorf("%+v became %+v", info, again)
	}
}

// checkError checks the conversion of an error: the text is for terminals and models, and the
// reason stays the same on the way through a second server.
func checkError(t *testing.T, m *workspacev1.NameError) {
	st, err := status.New(codes.FailedPrecondition, "x").WithDetails(m)
	if err != nil {
		return
	}
	got := workspacepb.ToError(st.Err())
	if got == nil {
		t.Fatalf("the error %v is lost", m)
	}
	if !utf8.ValidString(got.Message) || len(got.Message) > 4<<10 || strings.ContainsFunc(got.Message, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("the message is %q", got.Message)
	}
	again := workspacepb.ToError(workspacepb.FromError(got))
	if again == nil || again.Message != got.Message || again.Err.Error() != got.Err.Error() {
		t.Errorf("%+v became %+v", got, again)
	}
}
