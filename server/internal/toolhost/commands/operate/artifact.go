package operate

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// artifactFlags holds the flags of `artifact`.
type artifactFlags struct {
	session string
	offset  uint64
	limit   uint64 // 0 means all
	file    string
}

// NewArtifactCommand returns the command `artifact`.
func NewArtifactCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var flags artifactFlags
	cmd := &cobra.Command{
		Use:   "artifact HANDLE",
		Short: "Print what a result had too much of",
		Long: `Artifact prints an artifact, byte by byte as a tool made it: the text, JSON, image or file that was too large to be shown
in the result of a call, by the handle that stands in its place. In a terminal, characters that could steer it are shown as
escapes. Artifacts belong to their user and to the session of the
call, are kept for a week unless the configuration says otherwise, and the oldest go when there are too many.`,
		Example: `  toolhost artifact artifact-3kq6…
  toolhost artifact artifact-3kq6… --offset 100000 --limit 2000
  toolhost artifact artifact-3kq6… --file report.pdf`,
		Args: cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := tool.CheckID(flags.session); flags.session != "" && err != nil {
				return cli.Usage("--session: %w", err)
			}
			if cmd.Flags().Changed("limit") && flags.limit == 0 {
				return cli.Usage("--limit: 0 bytes are nothing; leave it out for all")
			}
			return conn.WithAny(func(c *client.Client) error {
				return flags.print(cmd.Context(), c, args[0], p.Stdout)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.session, "session", "", "the `SESSION` of the call that made it")
	f.Uint64Var(&flags.offset, "offset", 0, "begin behind the first `N` bytes")
	f.Uint64Var(&flags.limit, "limit", 0, "print at most `N` bytes (default: all)")
	f.StringVar(&flags.file, "file", "", "write to this `FILE` instead, replacing what it has")
	conn.AddFlag(f)
	return cmd
}

// print writes the requested part of the artifact. It opens the output after the first answer, so
// that a wrong handle creates no file.
func (f *artifactFlags) print(ctx context.Context, c *client.Client, handle string, stdout io.Writer) (err error) {
	q := tool.ArtifactQuery{Session: f.session, Handle: handle, Offset: f.offset}
	left := f.limit
	if left == 0 {
		left = math.MaxUint64
	}
	var out io.Writer
	for left > 0 {
		q.Limit = int(min(left, tool.MaxArtifactPiece))
		piece, err := c.ReadArtifact(ctx, q)
		if err != nil {
			return f.incomplete(q.Offset, err)
		}
		if out == nil {
			file, err := f.output(piece, stdout)
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }()
			out = file
		}
		if _, err := out.Write(piece.Data); err != nil {
			return f.incomplete(q.Offset, err)
		}
		n := uint64(len(piece.Data))
		q.Offset, left = q.Offset+n, left-n
		if n == 0 || q.Offset >= piece.Size {
			break
		}
	}
	return out.(io.Closer).Close()
}

// readArtifact returns a function that writes a whole artifact of a session.
func readArtifact(ctx context.Context, c *client.Client, session string) func(io.Writer, *tool.Artifact) error {
	return func(w io.Writer, a *tool.Artifact) error {
		q := tool.ArtifactQuery{Session: session, Handle: a.Handle, Limit: tool.MaxArtifactPiece}
		for {
			piece, err := c.ReadArtifact(ctx, q)
			if err != nil {
				return err
			}
			if _, err := w.Write(piece.Data); err != nil {
				return err
			}
			if q.Offset += uint64(len(piece.Data)); len(piece.Data) == 0 || q.Offset >= piece.Size {
				return nil
			}
		}
	}
}

// incomplete adds to an error how much of the artifact was written, if any.
func (f *artifactFlags) incomplete(reached uint64, err error) error {
	if reached == f.offset {
		return err
	}
	return fmt.Errorf("after %d bytes: %w", reached-f.offset, err)
}

// output returns the destination of the artifact.
func (f *artifactFlags) output(piece tool.ArtifactPiece, stdout io.Writer) (io.WriteCloser, error) {
	if f.file != "" {
		return os.Create(f.file)
	}
	readable := strings.HasPrefix(piece.MediaType, "text/") || piece.MediaType == "application/json"
	if terminal, ok := stdout.(*os.File); ok && !readable {
		if info, err := terminal.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return nil, cli.Usage("the artifact is %s, %s, which is not for a terminal; write it to a file with --file", piece.MediaType, cli.Size(piece.Size))
		}
	}
	if cli.IsTerminal(stdout) {
		return open{cli.NewPrinter(stdout)}, nil
	}
	return open{stdout}, nil
}

// open is an output whose Close does nothing.
type open struct{ io.Writer }

// Close implements io.Closer.
func (open) Close() error { return nil }

// tellArtifacts prints the commands that show the artifacts of a result.
func tellArtifacts(w io.Writer, r *tool.Result, session string) {
	for _, c := range r.Content {
		if c.Artifact == nil {
			continue
		}
		command := cli.Toolhost + " artifact " + c.Artifact.Handle
		if session != "" {
			command += " --session " + session
		}
		fmt.Fprintf(w, "%s: `%s` prints all %d bytes of what is not shown whole\n", cli.Toolhost, command, c.Artifact.Size)
	}
}
