// Package workspacepb converts between package workspace and the messages of toolhost.workspace.v1,
// for server and client. It checks what the other side sent.
package workspacepb

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	// ChunkBytes bounds a field with bytes.
	ChunkBytes = 256 << 10
	// MessageBytes bounds a message.
	MessageBytes = 4 << 20
	maxVersion   = 256
	maxMessage   = 4 << 10 // of a NameError
)

// kinds are the kinds of files with their type bits.
var kinds = map[workspacev1.FileKind]fs.FileMode{
	workspacev1.FileKind_FILE_KIND_REGULAR: 0,
	workspacev1.FileKind_FILE_KIND_FOLDER:  fs.ModeDir,
	workspacev1.FileKind_FILE_KIND_LINK:    fs.ModeSymlink,
	workspacev1.FileKind_FILE_KIND_FIFO:    fs.ModeNamedPipe,
	workspacev1.FileKind_FILE_KIND_SOCKET:  fs.ModeSocket,
	workspacev1.FileKind_FILE_KIND_DEVICE:  fs.ModeDevice,
}

// FromInfo converts a description to its message.
func FromInfo(info workspace.Info) *workspacev1.FileInfo {
	m := &workspacev1.FileInfo{
		Name: info.Name, Kind: workspacev1.FileKind_FILE_KIND_DEVICE, Permissions: uint32(info.Mode.Perm()), Size: uint64(max(info.Size, 0)),
		ModifiedUnixNanos: info.ModTime.UnixNano(), Target: info.Target, Version: info.Version,
	}
	for kind, bits := range kinds {
		if info.Mode.Type() == bits {
			m.Kind = kind
		}
	}
	return m
}

// ToInfo converts a message to a description. The error says what is wrong with the message. A
// device loses the bit that says whether it is a character device.
func ToInfo(m *workspacev1.FileInfo) (workspace.Info, error) {
	bits, known := kinds[m.GetKind()]
	switch {
	case m == nil:
		return workspace.Info{}, errors.New("the description of a file is missing")
	case !known:
		return workspace.Info{}, fmt.Errorf("a file is of the kind %d", m.GetKind())
	case m.GetPermissions() > 0o777:
		return workspace.Info{}, fmt.Errorf("a file has the permissions %o", m.GetPermissions())
	case m.GetSize() > 1<<62:
		return workspace.Info{}, fmt.Errorf("a file has %d bytes", m.GetSize())
	case len(m.GetVersion()) > maxVersion:
		return workspace.Info{}, fmt.Errorf("the version of a file has %d bytes", len(m.GetVersion()))
	case strings.ContainsAny(m.GetName(), "/\x00"):
		return workspace.Info{}, fmt.Errorf("a file has the name %q", m.GetName())
	}
	return workspace.Info{
		Name: m.GetName(), Mode: bits | fs.FileMode(m.GetPermissions()), Size: int64(m.GetSize()), ModTime: time.Unix(0, m.GetModifiedUnixNanos()),
		Target: m.GetTarget(), Version: m.GetVersion(),
	}, nil
}

// ToEntry converts a message to the description of an entry of a folder. A name that is no name of
// an entry could lead elsewhere.
func ToEntry(m *workspacev1.FileInfo) (workspace.Info, error) {
	info, err := ToInfo(m)
	if err == nil && (info.Name == "" || info.Name == "." || info.Name == "..") {
		err = fmt.Errorf("a folder has an entry with the name %q", info.Name)
	}
	return info, err
}

// reasons are the errors of package workspace with their reasons. The first that fits counts.
var reasons = []struct {
	err    error
	reason workspacev1.NameError_Reason
	code   codes.Code
}{
	{workspace.ErrUnavailable, workspacev1.NameError_REASON_UNAVAILABLE, codes.Unavailable},
	{workspace.ErrNoCommands, workspacev1.NameError_REASON_NO_COMMANDS, codes.Unimplemented},
	{workspace.ErrNoProgram, workspacev1.NameError_REASON_NO_PROGRAM, codes.FailedPrecondition},
	{workspace.ErrOutside, workspacev1.NameError_REASON_OUTSIDE, codes.InvalidArgument},
	{workspace.ErrFolder, workspacev1.NameError_REASON_FOLDER, codes.FailedPrecondition},
	{workspace.ErrNotFolder, workspacev1.NameError_REASON_NOT_FOLDER, codes.FailedPrecondition},
	{workspace.ErrIrregular, workspacev1.NameError_REASON_IRREGULAR, codes.FailedPrecondition},
	{workspace.ErrTooLarge, workspacev1.NameError_REASON_TOO_LARGE, codes.FailedPrecondition},
	{workspace.ErrChanged, workspacev1.NameError_REASON_CHANGED, codes.Aborted},
	{fs.ErrNotExist, workspacev1.NameError_REASON_NOT_FOUND, codes.NotFound},
	{fs.ErrPermission, workspacev1.NameError_REASON_PERMISSION, codes.PermissionDenied},
	{fs.ErrInvalid, workspacev1.NameError_REASON_INVALID, codes.InvalidArgument},
}

// FromError converts an error of a workspace to a gRPC status.
func FromError(err error) error {
	if err == nil {
		return nil
	}
	named, ok := errors.AsType[*workspace.Error](err)
	if !ok {
		return status.FromContextError(err).Err()
	}
	reason, code := workspacev1.NameError_REASON_UNSPECIFIED, codes.FailedPrecondition
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			reason, code = r.reason, r.code
			break
		}
	}
	st, detailErr := status.New(code, "see the details").WithDetails(&workspacev1.NameError{Reason: reason, Message: Clean(named.Message)})
	if detailErr != nil {
		return status.Error(codes.Internal, "the error cannot be encoded")
	}
	return st.Err()
}

// ToError returns the error of a workspace in a gRPC status, or nil if the status has none.
func ToError(err error) *workspace.Error {
	for _, detail := range status.Convert(err).Details() {
		named, ok := detail.(*workspacev1.NameError)
		if !ok {
			continue
		}
		cause := errors.New("another error")
		for _, r := range reasons {
			if r.reason == named.GetReason() {
				cause = r.err
			}
		}
		return &workspace.Error{Message: Clean(named.GetMessage()), Err: cause}
	}
	return nil
}

// Clean returns a text of the other side in one line, without what is not printable, and bounded. A
// terminal or a model gets nothing from it that it could take for control.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage-3], "") + "…"
	}
	return text
}

// CheckPaths returns why these cannot be the absolute paths of a workspace.
func CheckPaths(paths []string) error {
	if len(paths) > 8 {
		return fmt.Errorf("the workspace has %d paths", len(paths))
	}
	for _, p := range paths {
		if !path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
			return fmt.Errorf("the workspace has the path %q", p)
		}
	}
	return nil
}
