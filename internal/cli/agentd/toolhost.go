package agentd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

const toolhostProgram = "toolhost"

// answerWait bounds the question whether a toolhost answers: one that is there answers in milliseconds.
const answerWait = 5 * time.Second

// toolhost is a toolhost that answers, and what ends it if it was started here.
type toolhost struct {
	*client.Client
	private *privateToolhost // nil: it is somebody else's
	records *runRecords      // of private; nil: none. Its user closes them, after it
}

// Close ends the connection, and the toolhost if it is ours.
func (t *toolhost) Close() error {
	err := t.Client.Close()
	if t.private != nil {
		err = errors.Join(err, t.private.stop())
	}
	return err
}

// connect returns the toolhost that the command line, the environment or the default names. Where none answers at the
// default address and private is set, it starts one, whose records are those of the run s.runID. A run that has such records
// was begun with a toolhost of its own and gets one again, also if another answers by now. An error that wraps
// client.ErrNoServer says how to go on.
func (s *setup) connect(ctx context.Context, private bool, log *slog.Logger) (*toolhost, error) {
	given := s.toolhost
	if given == "" && s.process.Getenv(address.Variable(toolhostProgram)) == "" {
		given = s.config.Toolhost
	}
	addr, err := address.Find(given, toolhostProgram, s.process.Getenv)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	named := given != "" || s.process.Getenv(address.Variable(toolhostProgram)) != ""
	var answered error
	if named || !private || !s.hasRecords() {
		c, err := dial(ctx, addr.String(), cli.DialOptions(addr)...)
		switch {
		case err == nil:
			return &toolhost{Client: c}, nil
		case !errors.Is(err, client.ErrNoServer):
			return nil, err
		case named || !private:
			return nil, fmt.Errorf("%w; start one with `toolhost serve --plugins DIR`, or name another with --toolhost or %s",
				err, address.Variable(toolhostProgram))
		}
		if err := refuseForeign(ctx, addr); err != nil {
			return nil, err
		}
		answered = err
	}
	own, records, startErr := s.startOwn(ctx, log)
	if exit, ok := errors.AsType[*exec.ExitError](startErr); ok && exit.ExitCode() == cli.ExitUntrusted {
		return nil, &cli.ExitError{Code: cli.ExitUntrusted, Err: startErr}
	}
	switch {
	case startErr != nil && answered != nil:
		return nil, fmt.Errorf("%w; starting one failed: %w", answered, startErr)
	case startErr != nil:
		return nil, fmt.Errorf("starting the run's own toolhost failed: %w", startErr)
	}
	c, err := dial(ctx, own.addr)
	if err != nil {
		return nil, errors.Join(err, own.stop(), records.claim.Close())
	}
	return &toolhost{Client: c, private: own, records: records}, nil
}

// refuseForeign returns why no private toolhost takes the place of the one at the default address: another user has the place, and
// may have taken it from the toolhost that the user of this program means.
func refuseForeign(ctx context.Context, addr address.Address) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	conn, err := addr.Dial(ctx)
	if err == nil {
		return conn.Close() // a toolhost that has just started; its user's private one does no harm beside it
	}
	if errors.Is(err, address.ErrForeign) {
		return fmt.Errorf("%w; remove what the other user put there, or name a toolhost with --toolhost or %s",
			err, address.Variable(toolhostProgram))
	}
	return nil
}

// startOwn starts a toolhost with the records of the run s.runID.
func (s *setup) startOwn(ctx context.Context, log *slog.Logger) (*privateToolhost, *runRecords, error) {
	folder, err := s.recordsFolder()
	if err != nil {
		return nil, nil, err
	}
	records, err := claimRecords(ctx, folder, s.runID, log)
	if err != nil {
		return nil, nil, err
	}
	records.acceptedLoss = s.acceptedLoss
	journal, err := s.journalPath()
	if err != nil {
		return nil, nil, errors.Join(err, records.claim.Close())
	}
	own, err := startToolhost(ctx, log, records, journal)
	if err != nil {
		return nil, nil, errors.Join(err, records.claim.Close())
	}
	return own, records, nil
}

// dial returns a client of a toolhost that answers.
func dial(ctx context.Context, addr string, options ...client.DialOption) (*client.Client, error) {
	c, err := client.Dial(addr, options...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	if _, err := c.ListTools(ctx, tool.Query{MaxTools: 1}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
