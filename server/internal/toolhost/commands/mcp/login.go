package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/tool"
)

const loginHelp = `Login lets you log in to an MCP server that a plugin stands for, if the server requires OAuth. Your calls then use your
login, and those of no one else do. toolhost keeps the tokens and renews them; this command never sees them.

It opens a page of the authorization server in a browser of this machine, and waits on a port of 127.0.0.1 for the answer.
The toolhost may run on another machine. If this machine has no browser, use --device: you then enter a code on another device.
The authorization server has to support that. If a call says that your login does not permit it, log in again.

The exit code is 0 if you are logged in, and 3 if not.`

func newLoginCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	var device, noBrowser bool
	cmd := &cobra.Command{
		Use:     "login PLUGIN",
		Short:   "Log in to an MCP server that requires it",
		Long:    loginHelp,
		Example: "  toolhost mcp login docs\n  toolhost mcp login docs --device",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				login := deviceLogin
				if !device {
					login = func(ctx context.Context, c *client.Client, p cli.Process, plugin string) (tool.Login, error) {
						return browserLogin(ctx, c, p, plugin, !noBrowser)
					}
				}
				done, err := login(cmd.Context(), c, p, args[0])
				if err != nil {
					return err
				}
				fmt.Fprintf(p.Out(), "logged in to %s%s\n", done.Plugin, permitting(done))
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&device, "device", false, "enter a code on another device, instead of using a browser of this machine")
	f.BoolVar(&noBrowser, "no-browser", false, "print the URL of the page, and open no browser")
	conn.AddFlag(f)
	return cmd
}

// permitting says what a new login permits.
func permitting(l tool.Login) string {
	text := ""
	if len(l.Scopes) > 0 {
		text = " with the scopes " + strings.Join(l.Scopes, " ")
	}
	if !l.Renews && !l.Expires.IsZero() {
		text += ", until " + l.Expires.Local().Format(time.DateTime)
	}
	return text
}

// announce says to whom the person is about to give a password. Both URLs come from foreign
// servers.
func announce(p cli.Process, s tool.LoginStart) {
	asks := ""
	if len(s.Scopes) > 0 {
		asks = ", and asks for: " + strings.Join(s.Scopes, " ")
	}
	fmt.Fprintf(p.Err(), "%s (%s) uses the authorization server %s%s\n", s.Plugin, s.URL, s.Issuer, asks)
}

func deviceLogin(ctx context.Context, c *client.Client, p cli.Process, plugin string) (tool.Login, error) {
	started, err := c.BeginLogin(ctx, plugin, "")
	if err != nil {
		return tool.Login{}, err
	}
	announce(p, started)
	fmt.Fprintf(p.Err(), "open %s on any device and enter the code %s\n", started.VerifyURL, started.UserCode)
	ctx, cancel := context.WithDeadline(ctx, started.Expires)
	defer cancel()
	return c.FinishLogin(ctx, plugin, started.ID, tool.LoginAnswer{})
}

func browserLogin(ctx context.Context, c *client.Client, p cli.Process, plugin string, open bool) (tool.Login, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return tool.Login{}, fmt.Errorf("listening for the answer of the browser: %w", err)
	}
	defer l.Close()
	started, err := c.BeginLogin(ctx, plugin, "http://"+l.Addr().String()+callbackPath)
	if err != nil {
		return tool.Login{}, err
	}
	page, err := url.Parse(started.BrowserURL)
	if err != nil || page.Scheme != "https" && page.Scheme != "http" || page.Host == "" || started.State == "" {
		return tool.Login{}, errors.New("the toolhost sent no page that a browser can open")
	}
	announce(p, started)
	fmt.Fprintf(p.Err(), "open this page in a browser of this machine:\n  %s\n", page)
	ctx, cancel := context.WithDeadline(ctx, started.Expires)
	defer cancel()
	if open {
		openBrowser(p, page.String())
	}
	answer, err := await(ctx, l, started.State)
	if err != nil {
		return tool.Login{}, err
	}
	return c.FinishLogin(ctx, plugin, started.ID, answer)
}

const (
	callbackPath = "/callback"
	// maxAnswer bounds the parameters of the answer in bytes. A code is a token of some kilobytes at
	// most.
	maxAnswer = 64 << 10
)

// await serves the port until the browser brings the answer with the state of the login. Other
// requests come from other pages and programs, and are refused without an effect.
func await(ctx context.Context, l net.Listener, state string) (tool.LoginAnswer, error) {
	answers := make(chan tool.LoginAnswer, 1)
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: maxAnswer,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Referrer-Policy", "no-referrer")
			if r.Method != http.MethodGet || r.URL.Path != callbackPath || r.Host != l.Addr().String() || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, "This is not the answer that toolhost waits for.\n")
				return
			}
			_, _ = io.WriteString(w, "toolhost has the answer. You can close this page; the terminal says whether you are logged in.\n")
			select {
			case answers <- tool.LoginAnswer{
				Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss"), Error: q.Get("error"), ErrorDescription: q.Get("error_description"),
			}:
			default: // the browser repeats its answer
			}
		}),
	}
	served := make(chan struct{})
	go func() { // ends when the server is shut down, which is below
		defer close(served)
		_ = server.Serve(l)
	}()
	defer func() {
		finishing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(finishing) // the browser gets its page
		_ = server.Close()
		<-served
	}()
	select {
	case answer := <-answers:
		return answer, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return tool.LoginAnswer{}, errors.New("the browser brought no answer in time; begin again, or use --device if the browser is on another machine")
		}
		return tool.LoginAnswer{}, context.Cause(ctx)
	}
}

// openBrowser opens a page if a person works here. A failure does not matter, because the URL is
// printed.
func openBrowser(p cli.Process, page string) {
	opener := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		opener = "open"
	case p.Getenv("DISPLAY") == "" && p.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	if browser := exec.Command(opener, page); browser.Start() == nil { // it may run for longer than the command
		_ = browser.Process.Release()
	}
}
