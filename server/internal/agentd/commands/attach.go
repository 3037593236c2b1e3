package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/attachment"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func addAttachFlag(flags *pflag.FlagSet, files *[]string) {
	flags.StringArrayVar(files, "attach", nil,
		"a `FILE` for the model: an image, a PDF or text; - is standard input; artifact:HANDLE is an artifact of toolhost; may be repeated")
}

// artifactScheme begins the value of --attach that names an artifact.
const artifactScheme = "artifact:"

// readAttachments reads the files that --attach names. agentd decides what it accepts; only the
// size is checked here, so that a mistake does not fill the memory.
func readAttachments(ctx context.Context, p cli.Process, files []string) (list []client.Attachment, err error) {
	stdin, sum := false, 0
	for _, file := range files {
		if file == "-" && stdin {
			return nil, cli.Usage("--attach -: standard input can be attached once")
		}
		stdin = stdin || file == "-"
		f, err := readAttachment(ctx, p, file)
		if err != nil {
			return nil, err
		}
		if sum += len(f.Data); sum > attachment.MaxMessageBytes {
			return nil, cli.Usage("--attach: the files have more than %s together; that is the most for one prompt", cli.Size(attachment.MaxMessageBytes))
		}
		list = append(list, f)
	}
	return list, nil
}

func readAttachment(ctx context.Context, p cli.Process, file string) (f client.Attachment, err error) {
	if handle, ok := strings.CutPrefix(file, artifactScheme); ok {
		return client.Attachment{Artifact: handle}, nil
	}
	if file == "-" {
		f.Data, err = readInput(ctx, func() (io.ReadCloser, error) { return io.NopCloser(p.Stdin), nil }, attachment.MaxBytes+1)
	} else {
		f.Name = filepath.Base(file)
		f.Data, err = readFile(ctx, file, attachment.MaxBytes+1)
	}
	switch {
	case ctx.Err() != nil:
		return f, context.Cause(ctx)
	case errors.Is(err, syscall.EISDIR):
		return f, cli.Usage("--attach: %s is a folder; attach its files", file)
	case err != nil:
		return f, cli.Usage("--attach: %w", bare(err))
	case len(f.Data) == 0:
		return f, cli.Usage("--attach: %s is empty", file)
	case len(f.Data) > attachment.MaxBytes:
		return f, cli.Usage("--attach: %s has more than %s; that is the most for one file", file, cli.Size(attachment.MaxBytes))
	}
	return f, nil
}

// bare returns an error of the file system as "PATH: REASON".
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}

// attachedLine describes an attachment for a person. The caller of the run chose the name.
func attachedLine(a *client.AttachmentInfo) string {
	name := a.Name
	if name == "" {
		name = "(no name)"
	}
	return fmt.Sprintf("%s (%s, %s)", cli.OneLine(name), cli.OneLine(a.MIMEType), sizeWords(a.Size))
}

// sizeWords returns a size for a person. Notes of a few bytes are common attachments.
func sizeWords(n uint64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	return cli.Size(n)
}

// attachedItem is an attachment in the output for programs, which never has the content.
type attachedItem struct {
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mime_type"`
	Size     uint64 `json:"size"`
	SHA256   string `json:"sha256"`
	Artifact string `json:"artifact,omitempty"` // the handle that the content was read from
}

func attachedItems(list []client.AttachmentInfo) (items []attachedItem) {
	for i := range list {
		a := &list[i]
		items = append(items, attachedItem{a.Name, a.MIMEType, a.Size, a.SHA256, a.Artifact})
	}
	return items
}

// attach adds a file to the next message of the chat. Without a file, it lists what is added.
func (c *chat) attach(ctx context.Context, file string) error {
	file = strings.TrimSpace(file)
	switch {
	case file == "" && len(c.attached) == 0:
		return c.text.line(dim, "nothing is attached; /attach FILE adds a file to your next message")
	case file == "":
		for i := range c.attached {
			if err := c.attachedLine(&c.attached[i]); err != nil {
				return err
			}
		}
		return nil
	case file == "-":
		return c.text.line(yellow, "/attach cannot read standard input: it is this conversation")
	}
	path := expandHome(file, c.setup.process.Getenv("HOME"))
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return c.text.line(yellow, "%s", cli.OneLine("/attach: "+path+" is a pipe or a device, which may never end"))
	}
	f, err := readAttachment(ctx, c.setup.process, path)
	if err != nil {
		return c.text.line(yellow, "%s", cli.OneLine(strings.Replace(err.Error(), "--attach", "/attach", 1)))
	}
	c.attached = append(c.attached, f)
	return c.attachedLine(&f)
}

func (c *chat) attachedLine(f *client.Attachment) error {
	if f.Artifact != "" {
		return c.text.line(dim, "+ artifact %s", cli.OneLine(f.Artifact))
	}
	return c.text.line(dim, "+ %s (%s)", cli.OneLine(f.Name), sizeWords(uint64(len(f.Data))))
}

// expandHome replaces a leading ~, which no shell has replaced in a message.
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// refused tells the person that agentd does not take a message because of its attachments. They are
// dropped, and the conversation goes on. It returns false for any other error.
func (c *chat) refused(err error) bool {
	if len(c.attached) == 0 || err == nil {
		return false
	}
	switch tool.KindOf(err) {
	case tool.KindInvalidArgument, tool.KindNotFound, tool.KindRateLimited, tool.KindDenied:
	default:
		return false
	}
	c.attached = nil
	return c.text.line(yellow, "! %s; the message was not sent, and nothing is attached any more", cli.OneLine(tool.AsError(err).Message)) == nil
}

// deliver sends a message with what is attached. sent is false if agentd refused the attachments.
func (c *chat) deliver(ctx context.Context, message string) (sent bool, err error) {
	err = c.send(ctx, message)
	if c.refused(err) {
		return false, nil
	}
	c.attached = nil
	return err == nil, err
}
