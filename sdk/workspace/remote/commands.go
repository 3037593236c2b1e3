package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"time"

	"google.golang.org/grpc"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	// endTime is how long a server may take to end a command. It is longer than commands.EndTime, so
	// that the output and the exit still arrive.
	endTime = 4 * time.Second
	// maxCommand bounds the arguments and variables of a command, in bytes. Linux takes as many.
	maxCommand = 2 << 20
)

type execution = grpc.BidiStreamingClient[workspacev1.ExecuteRequest, workspacev1.ExecuteResponse]

// Run implements workspace.Commands.
func (w *withCommands) Run(ctx context.Context, c workspace.Command) (workspace.Exit, error) {
	rel, err := w.begin(ctx, "run a command in", cmp.Or(c.Dir, "."))
	if err == nil {
		err = checkSize(c)
	}
	if err != nil {
		return workspace.Exit{}, err
	}
	// The stream outlives ctx for as long as the server needs to end the command.
	streaming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	stream, err := w.client.Execute(streaming)
	if err == nil {
		err = prepare(stream, w.place(rel), c)
	}
	if !stop() {
		return workspace.Exit{}, ended(ctx, "run a command in", rel) // it was not started
	}
	if err != nil {
		return workspace.Exit{}, w.notStarted(ctx, stream, rel, err)
	}
	finished := w.endWith(ctx, stream, cancel)
	defer finished()
	exit, err := w.follow(stream, c)
	if err == nil || errors.Is(err, workspace.ErrUnknownOutcome) {
		return exit, err
	}
	if named := workspacepb.ToError(err); named != nil {
		return workspace.Exit{}, named
	}
	return workspace.Exit{Ended: ctx.Err() != nil}, w.unknown(err, "the command ran on another machine, and the connection to it broke; "+
		"it is not known what the command did, and the machine ends it: look at its effects before you repeat it")
}

// checkSize refuses a command that no system could start.
func checkSize(c workspace.Command) error {
	size := 0
	for _, argument := range c.Argv {
		size += len(argument)
	}
	for name, value := range c.Env {
		size += len(name) + len(value)
	}
	if size > maxCommand {
		return &workspace.Error{
			Message: "the command and its environment are longer than the system takes; write the script to a file, or hand it over as stdin", Err: fs.ErrInvalid,
		}
	}
	return nil
}

// inputError is an error of the standard input, not of the stream.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// prepare sends the command and its input, and the request that starts it. The server does not
// start the command before.
func prepare(stream execution, place *workspacev1.Place, c workspace.Command) error {
	head := &workspacev1.ExecuteRequest{Step: &workspacev1.ExecuteRequest_Command{
		Command: &workspacev1.Command{Place: place, Argv: c.Argv, Environment: c.Env},
	}}
	if err := stream.Send(head); err != nil {
		return err
	}
	for buffer, total := make([]byte, workspacepb.ChunkBytes), 0; c.Stdin != nil; {
		n, err := c.Stdin.Read(buffer)
		if total += n; total > workspace.MaxStdin {
			return inputError{&workspace.Error{
				Message: fmt.Sprintf("the standard input of the command has more than %d bytes; put it into a file of the workspace", workspace.MaxStdin),
				Err:     workspace.ErrTooLarge,
			}}
		}
		if n > 0 {
			if err := stream.Send(&workspacev1.ExecuteRequest{Step: &workspacev1.ExecuteRequest_Input{Input: buffer[:n]}}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return inputError{fmt.Errorf("reading the standard input of the command: %w", err)}
		}
	}
	return stream.Send(&workspacev1.ExecuteRequest{Step: &workspacev1.ExecuteRequest_Start{Start: &workspacev1.StartCommand{}}})
}

// notStarted returns why a command was not started. The stream may be nil.
func (w *withCommands) notStarted(ctx context.Context, stream execution, rel string, err error) error {
	if input, ok := errors.AsType[inputError](err); ok {
		return input.error
	}
	for errors.Is(err, io.EOF) { // the server has ended the RPC, and says why
		if _, err = stream.Recv(); err == nil {
			return w.lie(errors.New("a command answered before it was started"))
		}
		if errors.Is(err, io.EOF) {
			return w.lie(errors.New("a command ended before it was started"))
		}
	}
	return w.failure(ctx, "run a command in", rel, err)
}

// endWith makes the end of ctx end the command. If the server does not do that, the stream ends.
// finished ends the goroutine and waits for it.
func (w *withCommands) endWith(ctx context.Context, stream execution, cancel context.CancelFunc) (finished func()) {
	over, left := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // ends with over
		defer close(left)
		late := time.AfterFunc(endTime, cancel)
		defer late.Stop()
		_ = stream.Send(&workspacev1.ExecuteRequest{Step: &workspacev1.ExecuteRequest_End{End: &workspacev1.EndCommand{}}})
		<-over
	})
	return func() {
		close(over)
		if !stop() {
			cancel() // a server that does not read must not block Send
			<-left
		}
	}
}

// follow passes the output on until the command ends.
func (w *withCommands) follow(stream execution, c workspace.Command) (workspace.Exit, error) {
	for {
		answer, err := stream.Recv()
		if err != nil {
			return workspace.Exit{}, err
		}
		switch step := answer.GetStep().(type) {
		case *workspacev1.ExecuteResponse_Stdout:
			write(c.Stdout, step.Stdout)
		case *workspacev1.ExecuteResponse_Stderr:
			write(c.Stderr, step.Stderr)
		case *workspacev1.ExecuteResponse_Exit:
			return w.exit(step.Exit)
		default:
			return workspace.Exit{}, errors.New("the server sent a step that this version does not know")
		}
	}
}

// write passes output on. A writer that fails does not make the command fail.
func write(to io.Writer, output []byte) {
	if to != nil {
		_, _ = to.Write(output)
	}
}

// exit converts the end of a command.
func (w *withCommands) exit(m *workspacev1.CommandExit) (workspace.Exit, error) {
	const lastSignal = 64
	if m.GetCode() > 255 || m.GetSignal() > lastSignal || m.GetLeft() > 1<<30 {
		return workspace.Exit{}, fmt.Errorf("the server says that the command ended with code %d, signal %d and %d processes", m.GetCode(), m.GetSignal(), m.GetLeft())
	}
	if m.GetUnknown() != "" {
		return workspace.Exit{Ended: m.GetEnded()}, &workspace.Error{Message: workspacepb.Clean(m.GetUnknown()), Err: workspace.ErrUnknownOutcome}
	}
	return workspace.Exit{Code: int(m.GetCode()), Signal: syscall.Signal(m.GetSignal()), Ended: m.GetEnded(), Left: int(m.GetLeft())}, nil
}
