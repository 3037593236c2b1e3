package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/processors"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/sdk/internal/spans"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// Serve runs the plugin. It is usually the only statement of main. It returns when toolhost ends
// the plugin or is gone, after the running calls have ended, or after five seconds at most; main
// should return then. While Serve runs, toolhost reads standard output and standard error and keeps
// them as the plugin's log.
//
// If the declaration of the plugin is invalid, or a person starts the plugin by hand, Serve prints
// the reason on standard error and exits with code 1. Serve does not check schemas and examples:
// toolhost omits each tool whose schema it cannot use. With the argument --describe, Serve prints
// as JSON what toolhost sees of the plugin, and serves nothing.
//
// With two to four processors, Serve sets GOMAXPROCS to half of them, unless the environment has
// GOMAXPROCS or main has set it: the other half belongs to toolhost.
func Serve(p Plugin) {
	if code := serve(p, os.Args, os.Getenv, os.Stdout, os.Stderr); code != 0 {
		os.Exit(code)
	}
}

// serve is Serve without os.Exit. It returns the exit code.
func serve(p Plugin, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	server, err := newServer(p, lightly, true)
	if err != nil {
		fmt.Fprint(stderr, complaint(p.Name, err))
		return 1
	}
	for _, arg := range args[min(1, len(args)):] {
		switch arg {
		case "-describe", "--describe":
			return describe(p, stdout, stderr)
		case "-h", "-help", "--help":
			fmt.Fprint(stdout, introduction(p, args))
			return 0
		}
	}
	if getenv(pluginwire.CookieKey) != pluginwire.CookieValue {
		fmt.Fprint(stderr, introduction(p, args))
		return 1
	}
	if offered := getenv("PLUGIN_PROTOCOL_VERSIONS"); !pluginwire.Speaks(offered) {
		fmt.Fprintf(stderr, "plugin %q: toolhost offers the versions %s of the plugin contract, and this plugin knows %d; build it with a newer toolhost sdk, or upgrade toolhost\n",
			p.Name, offered, pluginwire.ProtocolVersion)
		return 1
	}
	processors.Share()
	serveHost(server)
	return 0
}

func describe(p Plugin, stdout, stderr io.Writer) int {
	e := json.NewEncoder(stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p.Describe()); err != nil {
		fmt.Fprintf(stderr, "printing the description: %v\n", err)
		return 1
	}
	return 0
}

// shutdownGrace is how long calls may continue when toolhost is gone or has ended the plugin. They
// have time to clean up, and it is shorter than the time after which toolhost sends a signal.
const shutdownGrace = 5 * time.Second

// serveHost serves until toolhost ends the plugin or is gone.
func serveHost(server *server) {
	logger := slog.New(slog.NewTextHandler(processStderr, nil))
	spans.Install()
	serving, served := context.WithCancel(context.Background())
	defer served()
	var guards sync.WaitGroup
	restore := keepStreams()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  pluginwire.Handshake(),
		VersionedPlugins: pluginwire.PluginPlugins(transport.OverWire(server), pluginwire.ServerConfig{Logger: logger}),
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			life := newLifeline(os.Getppid)
			life.connect = restore
			options = append(options, pluginwire.ServerOptions()...)
			s := grpc.NewServer(append(options, grpc.StreamInterceptor(life.intercept), grpc.StatsHandler(life))...)
			guards.Go(func() { life.guard(serving, s.Stop) }) // ends with serving
			return s
		},
		Logger: hclog.NewNullLogger(),
	})
	served()
	guards.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if err := server.wait(ctx); err != nil {
		logger.Warn("the plugin ends although calls have not", slog.Any("error", err))
	}
}

// keepStreams returns a function that sets os.Stdout and os.Stderr to what they are now.
//
// When go-plugin serves, it replaces both by pipes whose content it sends to toolhost over gRPC. If
// the process exits, what is still in a pipe is lost, and that is the reason for the exit. toolhost
// reads the process's own streams to their end. The function must run after go-plugin has replaced
// the variables and before any code of the author runs, so it runs when toolhost connects:
// go-plugin accepts connections after that.
func keepStreams() func() {
	stdout, stderr := os.Stdout, os.Stderr
	return func() { os.Stdout, os.Stderr = stdout, stderr }
}

// introduction is the text for a person who starts the plugin by hand.
func introduction(p Plugin, args []string) string {
	program := p.Name
	if len(args) > 0 {
		program = args[0]
	}
	var b strings.Builder
	ships := "tools for language models"
	if len(p.Tools) == 0 {
		ships = "filters of tool calls"
	}
	fmt.Fprintf(&b, "%s is a plugin of toolhost: it ships %s, and toolhost runs it.\n", strings.TrimSpace(p.Name+" "+p.Version), ships)
	if p.Description != "" {
		fmt.Fprintf(&b, "%s\n", p.Description)
	}
	d := p.Describe()
	list := func(title string, n int, entry func(i int) (name, description string)) {
		if n > 0 {
			fmt.Fprintf(&b, "\n%s:\n", title)
		}
		for i := range n {
			name, description := entry(i)
			line, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
			fmt.Fprintf(&b, "  %-20s %s\n", name, line)
		}
	}
	list("Tools", len(d.Tools), func(i int) (string, string) { return d.Tools[i].Name, d.Tools[i].Description })
	list("Filters", len(d.Filters), func(i int) (string, string) { return d.Filters[i].Name, d.Filters[i].Description })
	fmt.Fprint(&b, "\nTo use it, put it into a folder and serve that folder:\n\n  toolhost serve --plugins DIR\n")
	if len(d.Tools) > 0 {
		fmt.Fprintf(&b, "  toolhost call %s '{…}'\n", d.Tools[0].Name)
	}
	if slices.ContainsFunc(d.Filters, func(f tool.Filter) bool { return len(f.Tools) == 0 }) {
		fmt.Fprint(&b, "\nWhat its filters are asked about is said in toolhost.yaml, under filters.\n")
	}
	fmt.Fprintf(&b, "\nTo see all that it declares:\n\n  %s --describe\n", program)
	return b.String()
}
