package workspaceserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/sdk/workspace"
)

type execution = grpc.BidiStreamingServer[workspacev1.ExecuteRequest, workspacev1.ExecuteResponse]

// Execute implements WorkspaceServiceServer. The command ends with the stream.
func (s *Server) Execute(stream execution) error {
	head, err := stream.Recv()
	if err != nil {
		return received(err)
	}
	command := head.GetCommand()
	switch {
	case command == nil:
		return status.Error(codes.InvalidArgument, "the first request names no command")
	case s.cfg.ReadOnly:
		return workspacepb.FromError(refuse(fs.ErrPermission, "this plugin may only read the workspace, and runs no commands; the operator grants more with sandbox.workspace: write"))
	}
	leave, err := s.enter()
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer leave()
	w, release, err := s.open(stream.Context(), command.GetPlace())
	if err != nil {
		return workspacepb.FromError(err)
	}
	defer release()
	runner, err := s.cfg.Commands(w)
	if err != nil {
		return workspacepb.FromError(err)
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	out := &outputs{stream: stream}
	exit, err := runner.Run(ctx, workspace.Command{
		Argv: command.GetArgv(), Dir: command.GetPlace().GetName(), Env: command.GetEnvironment(),
		Stdin: &input{stream: stream, end: cancel}, Stdout: writer{out, false}, Stderr: writer{out, true},
	})
	return conclude(stream, exit, err)
}

// conclude sends how a command ended.
func conclude(stream execution, exit workspace.Exit, err error) error {
	m := &workspacev1.CommandExit{Code: uint32(max(exit.Code, 0)), Signal: uint32(max(exit.Signal, 0)), Ended: exit.Ended, Left: uint32(max(exit.Left, 0))}
	if errors.Is(err, workspace.ErrUnknownOutcome) {
		m.Unknown, err = workspacepb.Clean(err.Error()), nil
	}
	if sent, ok := errors.AsType[*clientError](err); ok {
		return sent.err
	}
	if err != nil {
		return workspacepb.FromError(err)
	}
	return stream.Send(&workspacev1.ExecuteResponse{Step: &workspacev1.ExecuteResponse_Exit{Exit: m}})
}

// clientError is an error of a client that violates the contract, or of its stream.
type clientError struct{ err error }

func (e *clientError) Error() string { return e.err.Error() }
func (e *clientError) Unwrap() error { return e.err }

// input is the standard input that a client sends. Its end starts the command: workspace.Commands
// reads the input to its end before.
type input struct {
	stream execution
	end    context.CancelFunc // ends the command
	rest   []byte
	total  int
	done   error
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	for len(i.rest) == 0 && i.done == nil {
		i.receive()
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	if n == 0 {
		return 0, i.done
	}
	return n, nil
}

func (i *input) receive() {
	request, err := i.stream.Recv()
	if err != nil {
		i.done = &clientError{received(err)}
		return
	}
	switch step := request.GetStep().(type) {
	case *workspacev1.ExecuteRequest_Input:
		i.rest = step.Input
		if i.total += len(step.Input); i.total > workspace.MaxStdin {
			i.rest, i.done = nil, refuse(workspace.ErrTooLarge, "the standard input of the command has more than %d bytes", workspace.MaxStdin)
		}
	case *workspacev1.ExecuteRequest_Start:
		i.done = io.EOF
		go i.await() // ends with the stream
	default:
		i.done = &clientError{status.Error(codes.InvalidArgument, fmt.Sprintf("a request of the type %T came before the command was started", step))}
	}
}

// await ends the command when the client says so, or sends what it must not send. The end of the
// stream ends the command by its context.
func (i *input) await() {
	if _, err := i.stream.Recv(); err == nil {
		i.end()
	}
}

// outputs sends both outputs of a command.
type outputs struct {
	stream execution
	mu     sync.Mutex // a stream takes one message at a time
}

// writer is one of the outputs.
type writer struct {
	to     *outputs
	stderr bool
}

// Write implements io.Writer. It blocks while the client does not read.
func (w writer) Write(p []byte) (int, error) {
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	for left := p; len(left) > 0; {
		chunk := append([]byte(nil), left[:min(len(left), workspacepb.ChunkBytes)]...) // gRPC may keep it
		left = left[len(chunk):]
		message := &workspacev1.ExecuteResponse{Step: &workspacev1.ExecuteResponse_Stdout{Stdout: chunk}}
		if w.stderr {
			message.Step = &workspacev1.ExecuteResponse_Stderr{Stderr: chunk}
		}
		if err := w.to.stream.Send(message); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
