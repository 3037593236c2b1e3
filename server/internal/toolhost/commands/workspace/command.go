// Package workspace implements `toolhost workspace serve`: a server of toolhost.workspace.v1 for
// one folder, which runs commands in toolhost's sandbox.
//
// The server itself only identifies clients and passes their RPCs on. For each workspace it starts
// a worker: a process in a sandbox that sees the files of this workspace alone. The worker reads
// and writes the files, and its commands are processes in the same sandbox.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
)

// workerCommand is the name of the hidden command with which the server runs this program as a
// worker.
const workerCommand = "workspace-worker"

// maxConnections bounds the connections over TCP of all clients. A toolhost has one.
const maxConnections = 256

// flags are those of `toolhost workspace serve`.
type flags struct {
	root, listen        string
	certificate, key    string
	clientCA, tokenFile string
	separate, network   bool
	processes, commands int

	runDir      string // of the workers
	stdout, log io.Writer
}

// NewCommand returns the command `workspace`.
func NewCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "Serve a folder as the workspace of a toolhost on another machine",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServeCommand(p))
	return cmd
}

func newServeCommand(p cli.Process) *cobra.Command {
	f := flags{stdout: p.Stdout, log: p.Stderr}
	cmd := &cobra.Command{
		Use:   "serve --root DIR --listen ADDRESS",
		Short: "Serve the files of a folder and run commands in it, for the backend remote of a toolhost",
		Long: "Serve offers the folder over gRPC until it is interrupted, and prints one line when it is ready. Tools of the\n" +
			"toolhost whose toolhost.yaml has `workspace: {backend: remote}` work in it. Commands run in a sandbox that sees\n" +
			"the folder and the programs of the system. A client is the user of this server at a unix socket, or has a certificate\n" +
			"or the token over TLS. See docs/workspaces.md.",
		Example: "  toolhost workspace serve --root /srv/work --listen 0.0.0.0:8443 --tls-certificate server.pem --tls-key server.key --client-ca clients.pem",
		Args:    cli.Arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	s := cmd.Flags()
	s.StringVar(&f.root, "root", "", "folder `DIR` that is the workspace, or holds the workspaces with --separate")
	s.StringVar(&f.listen, "listen", "", "`ADDRESS` to listen at: unix:///PATH, or IP:PORT with TLS")
	s.StringVar(&f.certificate, "tls-certificate", "", "`FILE` with the certificate of the server and its chain, as PEM")
	s.StringVar(&f.key, "tls-key", "", "`FILE` with the private key of the certificate, as PEM")
	s.StringVar(&f.clientCA, "client-ca", "", "`FILE` with the authorities of the certificates of clients, as PEM")
	s.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the token of clients, of at least 20 characters; it is read again for each RPC")
	s.BoolVar(&f.separate, "separate", false, "give each workspace that a client names its own folder below DIR, and its own sandbox")
	s.BoolVar(&f.network, "network", false, "let commands use the network of this machine")
	s.IntVar(&f.processes, "processes", 1024, "the most processes and threads of one workspace, `N`")
	s.IntVar(&f.commands, "commands", 16, "the most commands of all workspaces at the same time, `N`")
	return cmd
}

// NewWorkerCommand returns the command of a worker.
func NewWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    workerCommand + " DIR",
		Short:  "Serve a workspace over standard input and output; `workspace serve` starts it",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE:   func(_ *cobra.Command, args []string) error { return work(args[0], os.Stdin, os.Stdout) },
	}
}

// check returns what is wrong with the command line, and makes its paths absolute.
func (f *flags) check() (address.Address, error) {
	switch {
	case f.root == "":
		return address.Address{}, cli.Usage("--root is missing; name the folder that is the workspace")
	case f.listen == "":
		return address.Address{}, cli.Usage("--listen is missing; use unix:///PATH, or IP:PORT with TLS")
	case f.processes < 16 || f.commands < 1:
		return address.Address{}, cli.Usage("--processes must be at least 16, and --commands at least 1")
	}
	at, err := address.ParseListener(f.listen)
	tls := f.certificate != "" || f.key != "" || f.clientCA != ""
	switch {
	case err != nil:
		return at, cli.Usage("--listen: %w", err)
	case at.IsUnix() && tls:
		return at, cli.Usage("%s is a unix socket, which needs no TLS; remove --tls-certificate, --tls-key and --client-ca", at)
	case !at.IsUnix() && (f.certificate == "" || f.key == ""):
		return at, cli.Usage("a TCP port needs TLS; give --tls-certificate and --tls-key, or listen at unix:///PATH")
	case !at.IsUnix() && f.clientCA == "" && f.tokenFile == "":
		return at, cli.Usage("a TCP port needs clients that prove who they are; give --client-ca, or --token-file")
	}
	for _, path := range []*string{&f.root, &f.certificate, &f.key, &f.clientCA, &f.tokenFile} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return at, fmt.Errorf("looking for the current folder: %w", err)
		}
	}
	if f.root, err = filepath.EvalSymlinks(f.root); err != nil {
		return at, fmt.Errorf("the folder of --root cannot be used: %w", err)
	}
	if info, err := os.Stat(f.root); err != nil || !info.IsDir() {
		return at, errors.Join(fmt.Errorf("--root %s is no folder", f.root), err)
	}
	return at, f.checkSecrets()
}

// checkSecrets returns an error if a secret of the server is in the workspace. The sandbox could
// hide the file, but not another one that takes its name.
func (f *flags) checkSecrets() error {
	for _, file := range f.secrets() {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return fmt.Errorf("reading a secret of the server: %w", err)
		}
		for _, path := range []string{file, real} {
			if rel, err := filepath.Rel(f.root, path); err == nil && filepath.IsLocal(rel) {
				return cli.Usage("the tools could read %s, which is in the folder of --root; move it out of there", file)
			}
		}
	}
	return nil
}

// run serves until ctx ends.
func (f *flags) run(ctx context.Context) (err error) {
	at, err := f.check()
	if err != nil {
		return err
	}
	log := logging.Open(logging.Config{To: f.log})
	defer log.Close()
	logger := log.Logger(loglevel.Server)
	const room = 73 // for the folders of a worker and of its socket
	temp := address.TempDir(room)
	if _, err := reaper.Sweep(temp); err != nil {
		logger.Warn("removing what dead servers left", "error", err)
	}
	runDir, err := reaper.MakeRunDir(temp)
	if err != nil {
		return err
	}
	defer runDir.Close()
	f.runDir = runDir.Path()
	workers := newPool(f, logger)
	defer workers.close()
	server, err := newServer(f, at, workers)
	if err != nil {
		return err
	}
	listener, err := at.Listen(ctx, "toolhost workspace")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, server.Stop)()
	fmt.Fprintf(cli.UntilDone(ctx, f.stdout), "the workspace %s is ready at %s\n", f.root, listener.Address())
	var limited net.Listener = listener
	if !at.IsUnix() { // the limit would hide the user of a unix socket
		limited = netutil.LimitListener(listener, maxConnections)
	}
	if err := server.Serve(limited); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serving the workspace: %w", err)
	}
	return nil
}
