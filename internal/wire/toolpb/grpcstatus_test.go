package toolpb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

var kinds = []struct {
	kind tool.Kind
	enum toolv1.ErrorKind
	code codes.Code
}{
	{tool.KindInvalidArgument, toolv1.ErrorKind_ERROR_KIND_INVALID_ARGUMENT, codes.InvalidArgument},
	{tool.KindNotFound, toolv1.ErrorKind_ERROR_KIND_NOT_FOUND, codes.NotFound},
	{tool.KindDenied, toolv1.ErrorKind_ERROR_KIND_DENIED, codes.PermissionDenied},
	{tool.KindApprovalRequired, toolv1.ErrorKind_ERROR_KIND_APPROVAL_REQUIRED, codes.FailedPrecondition},
	{tool.KindRateLimited, toolv1.ErrorKind_ERROR_KIND_RATE_LIMITED, codes.ResourceExhausted},
	{tool.KindTimeout, toolv1.ErrorKind_ERROR_KIND_TIMEOUT, codes.DeadlineExceeded},
	{tool.KindCancelled, toolv1.ErrorKind_ERROR_KIND_CANCELLED, codes.Canceled},
	{tool.KindCrashed, toolv1.ErrorKind_ERROR_KIND_CRASHED, codes.Aborted},
	{tool.KindUnavailable, toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE, codes.Unavailable},
	{tool.KindOutcomeUnknown, toolv1.ErrorKind_ERROR_KIND_OUTCOME_UNKNOWN, codes.Unknown},
	{tool.KindConflict, toolv1.ErrorKind_ERROR_KIND_CONFLICT, codes.AlreadyExists},
	{tool.KindInternal, toolv1.ErrorKind_ERROR_KIND_INTERNAL, codes.Internal},
	{tool.KindUnsupported, toolv1.ErrorKind_ERROR_KIND_UNSUPPORTED, codes.Unimplemented},
}

func TestEveryKindMapsBothWays(t *testing.T) {
	if got, want := len(kinds), len(toolv1.ErrorKind_name)-1; got != want {
		t.Fatalf("the table has %d kinds, the proto %d", got, want)
	}
	for _, k := range kinds {
		t.Run(string(k.kind), func(t *testing.T) {
			e := fullError()
			e.Kind = k.kind
			if got := toolpb.FromError(e).GetKind(); got != k.enum {
				t.Errorf("enum %v, want %v", got, k.enum)
			}
			err := toolpb.StatusError(fmt.Errorf("calling: %w", e))
			if got := status.Code(err); got != k.code {
				t.Errorf("code %v, want %v", got, k.code)
			}
			back := toolpb.FromStatusError(err)
			if diff := cmp.Diff(e, back, cmpopts.IgnoreFields(tool.Error{}, "Err")); diff != "" {
				t.Errorf("by detail (-sent +got):\n%s", diff)
			}
			if !errors.Is(back, err) {
				t.Error("the gRPC error is not wrapped")
			}
			bare, want := toolpb.FromStatusError(status.Error(k.code, "words")), k.kind
			if k.code == codes.Unknown { // every server may return it, so only the detail says outcome_unknown
				want = tool.KindInternal
			}
			if bare.Kind != want || bare.Message != "words" {
				t.Errorf("by code: %v %q, want %v", bare.Kind, bare.Message, want)
			}
		})
	}
}

func TestFromStatusErrorOfOtherErrors(t *testing.T) {
	denied := tool.Errorf(tool.KindDenied, "no")
	for _, tt := range []struct {
		name    string
		err     error
		kind    tool.Kind
		message string
	}{
		{"unimplemented", status.Error(codes.Unimplemented, "m"), tool.KindUnsupported, "m"},
		{"out of range", status.Error(codes.OutOfRange, "m"), tool.KindInvalidArgument, "m"},
		{"unauthenticated", status.Error(codes.Unauthenticated, "m"), tool.KindDenied, "m"},
		{"data loss", status.Error(codes.DataLoss, "m"), tool.KindInternal, "m"},
		{"unknown", status.Error(codes.Unknown, "m"), tool.KindInternal, "m"},
		{"no message", status.Error(codes.Unavailable, ""), tool.KindUnavailable, "Unavailable"},
		{"already one", fmt.Errorf("x: %w", denied), tool.KindDenied, "no"},
		{"cancelled", context.Canceled, tool.KindCancelled, "context canceled"},
		{"deadline", context.DeadlineExceeded, tool.KindTimeout, "context deadline exceeded"},
		{"plain", errors.New("plain"), tool.KindInternal, "plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := toolpb.FromStatusError(tt.err)
			if got.Kind != tt.kind || got.Message != tt.message {
				t.Errorf("got %v %q, want %v %q", got.Kind, got.Message, tt.kind, tt.message)
			}
		})
	}
	if toolpb.FromStatusError(nil) != nil {
		t.Error("nil does not stay nil")
	}
}

func TestStatusErrorOfOtherErrors(t *testing.T) {
	if toolpb.StatusError(nil) != nil {
		t.Error("nil does not stay nil")
	}
	kept := toolpb.StatusError(status.Error(codes.Unimplemented, "m"))
	if got := status.Code(kept); got != codes.Unimplemented {
		t.Errorf("a status became %v", got)
	}
	if got := status.Code(toolpb.StatusError(context.Canceled)); got != codes.Canceled {
		t.Errorf("context.Canceled became %v", got)
	}
	if got := status.Code(toolpb.StatusError(&tool.Error{Kind: "newer"})); got != codes.Internal {
		t.Errorf("an unknown kind became %v", got)
	}
	if got := status.Convert(toolpb.StatusError(&tool.Error{Kind: tool.KindDenied, Message: "\xff"})).Message(); got != "\uFFFD" {
		t.Errorf("message %q", got)
	}
}

func TestStatusErrorFitsIntoTrailers(t *testing.T) {
	const trailers = 8 << 10
	e := fullError()
	e.Message = strings.Repeat("ü", 100_000)
	e.Exit.LastStderr = append(e.Exit.LastStderr, "panic: boom")
	for range 200 {
		e.Exit.LastStderr = append(e.Exit.LastStderr, strings.Repeat("x", 100))
	}
	err := toolpb.StatusError(e)
	st := status.Convert(err)
	data, marshalErr := proto.Marshal(st.Proto())
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	if n := 3*len(st.Message()) + (len(data)+2)/3*4 + len(http.TrailerPrefix); n > trailers {
		t.Errorf("the trailers take %d bytes, more than %d", n, trailers)
	}
	back := toolpb.FromStatusError(err)
	if !utf8.ValidString(back.Message) || !strings.HasSuffix(back.Message, "…") {
		t.Errorf("message ends in %q", back.Message[len(back.Message)-8:])
	}
	if n := len(back.Exit.LastStderr); n < 10 || back.Exit.LastStderr[n-1] != strings.Repeat("x", 100) {
		t.Errorf("%d stderr lines left", n)
	}
	if got := crashoutput.Reason(back.Exit.LastStderr); got != "panic: boom" {
		t.Errorf("most telling is %q", got)
	}
	if e.Exit.LastStderr[0] != "x" || len(e.Message) != 200_000 {
		t.Error("the error itself was changed")
	}

	asked := &tool.Error{Kind: tool.KindApprovalRequired, Message: e.Message, ArgumentsSHA256: strings.Repeat("0", 64), Rule: strings.Repeat("r", 64)}
	for size, whole := range map[int]bool{2048: true, 2049: false} {
		asked.Arguments = []byte(strings.Repeat("z", size))
		err := toolpb.StatusError(asked)
		data, marshalErr := proto.Marshal(status.Convert(err).Proto())
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		back := toolpb.FromStatusError(err)
		if n := 3*len(status.Convert(err).Message()) + (len(data)+2)/3*4 + len(http.TrailerPrefix); n > trailers || len(back.Arguments) > 0 != whole {
			t.Errorf("with arguments of %d bytes the trailers take %d bytes and hold %d of them", size, n, len(back.Arguments))
		}
		if told := strings.Contains(back.Message, "the final arguments have 2049 bytes"); told == whole || back.ArgumentsSHA256 != asked.ArgumentsSHA256 {
			t.Errorf("with arguments of %d bytes the message is %q, the digest %q", size, back.Message, back.ArgumentsSHA256)
		}
	}

	e.Exit.LastStderr = []string{"before", strings.Repeat("y", 100_000)}
	back = toolpb.FromStatusError(toolpb.StatusError(e))
	if n := len(back.Exit.LastStderr); n != 1 || !strings.HasPrefix(back.Exit.LastStderr[0], "yyy") {
		t.Errorf("of one huge line %d lines are left", n)
	}
}
