package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// A shared toolhost is one that this process does not start. Its plugins may write folders of which
// the trust records of this user know nothing: toolhost may run as another user, or with another
// HOME. agentd therefore asks the toolhost for these folders, before it uses a configuration file
// and before it uses the toolhost. It applies to them the rules for the workspace of a private
// toolhost, and records them, so that the rules also hold after the toolhost has ended.
//
// The file itself may name the toolhost (key toolhost), so a planted file could name one that
// denies everything. agentd therefore also asks the toolhost that it would use without the file.

const (
	// maxFolders and maxFolderBytes bound what a shared toolhost can add to the trust records.
	maxFolders     = 1024
	maxFolderBytes = 4096
)

// namedToolhost returns the address of the toolhost that a flag or the configuration names. It
// returns "" if the environment or the default address decides.
func (s *setup) namedToolhost() string {
	if s.toolhost == "" && s.process.Getenv(address.Variable(toolhostProgram)) == "" {
		return s.config.Toolhost
	}
	return s.toolhost
}

// askSharedToolhosts refuses a configuration file that a plugin of a running toolhost could have
// written. It ignores an address without a toolhost, because connect reports that error. Every
// other failure is an error: the tools of a toolhost that does not answer in time may still write.
func (s *setup) askSharedToolhosts(ctx context.Context) error {
	if s.source.Path == "" || !s.source.Named {
		return nil // there is no file, or the content of the file is trusted
	}
	named := []string{s.namedToolhost(), s.toolhost}
	slices.Sort(named)
	for _, given := range slices.Compact(named) {
		servers, err := s.toolhosts(given)
		if err != nil {
			return cli.Usage("%w", err)
		}
		for _, addr := range servers {
			c, err := dial(ctx, addr.String(), cli.DialOptions(addr)...)
			switch {
			case errors.Is(err, client.ErrNoServer):
				continue
			case err != nil:
				return fmt.Errorf("asking the toolhost at %s which folders its tools may write, because they may have written %s: %w", addr, s.source.Path, err)
			}
			if err := errors.Join(s.checkShared(c.Addr(), c.Folders()), c.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// toolhosts returns the addresses of a text that names toolhosts; none for a name of DNS, which
// means other machines.
func (s *setup) toolhosts(given string) ([]address.Address, error) {
	if text := cmp.Or(given, s.process.Getenv(address.Variable(toolhostProgram))); address.IsSeveral(text) {
		servers, err := address.ParseServers(text)
		return servers.Addresses, err
	}
	addr, err := address.Find(given, toolhostProgram, s.process.Getenv)
	return []address.Address{addr}, err
}

// checkShared refuses a shared toolhost whose plugins can write the trust records or the journal,
// or could have written the configuration file. The folders come from a list of tools of the
// toolhost at addr. It is safe for concurrent use.
func (s *setup) checkShared(addr string, folders tool.Folders) error {
	if unusable(folders.Writable) || unusable(folders.Hidden) {
		return fmt.Errorf("the toolhost at %s lists folders that cannot be used: more than %d, longer than %d bytes, or relative paths",
			addr, maxFolders, maxFolderBytes)
	}
	if len(folders.Writable) == 0 {
		return nil
	}
	store := trust.NewUserStore(s.process.Getenv)
	if folder, err := reachable(store.Dir(), folders); err != nil {
		return err
	} else if folder != "" {
		return cli.Usage("the trust records in %s are in %s, where tools of the toolhost at %s may write: they could trust their own files; "+
			"set XDG_STATE_HOME to another folder, or give that toolhost another workspace", store.Dir(), folder, addr)
	}
	if err := configfile.CheckTrust(s.process.Getenv, s.source, folders.Writable); err != nil {
		return err
	}
	for _, file := range s.texts.files {
		if err := configfile.CheckTrust(s.process.Getenv, file, folders.Writable); err != nil {
			return err
		}
	}
	if err := s.place().checkJournal(addr, folders); err != nil {
		return err
	}
	if err := store.AddWritable(folders.Writable...); err != nil {
		return fmt.Errorf("recording the folders that tools of the toolhost at %s may write: %w", addr, err)
	}
	return nil
}

// checkJournal refuses a shared toolhost whose plugins can write the journal. A journal in a
// database is protected by the database's own credentials.
func (j journalPlace) checkJournal(addr string, folders tool.Folders) error {
	if database, err := j.database(); err != nil || database != "" {
		return err
	}
	journal, err := j.journalPath()
	if err != nil {
		return err
	}
	if folder, err := reachable(journal, folders); err != nil {
		return err
	} else if folder != "" {
		return cli.Usage("the journal %s is in %s, where tools of the toolhost at %s may write: they could approve their own calls; choose another file with --journal",
			journal, folder, addr)
	}
	if trust.HasOtherNames(journal) {
		return cli.Usage("the journal %s has more than one name (hard links), and tools of the toolhost at %s may be able to write it under another one; choose another file with --journal",
			journal, addr)
	}
	return nil
}

// warnOfReach warns if tools of a shared toolhost may write where a program lies that the operator
// starts: agentd. A toolhost protects the programs that it knows, which are those beside it and in
// its PATH.
func warnOfReach(log *slog.Logger, program, addr string, folders tool.Folders) {
	if folder, err := reachable(program, folders); err == nil && folder != "" {
		log.Warn("tools of a shared toolhost may write where this program lies; unless it lies beside that toolhost or in its PATH, "+
			"they may replace it, and it runs outside of every sandbox: move it to another folder",
			"program", program, "folder", folder, "toolhost", addr)
	}
}

// unusable reports whether a toolhost listed folders beyond the bounds.
func unusable(folders []string) bool {
	return len(folders) > maxFolders ||
		slices.ContainsFunc(folders, func(f string) bool { return len(f) > maxFolderBytes || !filepath.IsAbs(f) })
}

// reachable returns the folder in which tools can change what a path denotes; "" if there is none.
func reachable(path string, folders tool.Folders) (string, error) {
	folder, err := trust.Around(path, folders.Writable, folders.Hidden)
	if err != nil {
		return "", &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	return folder, nil
}

// sharedTools are the tools of a shared toolhost. An agent can outlive the toolhost that it began
// with, and the next one at the same address can have another workspace, with the journal in it. So
// sharedTools checks the folders again when a list of tools comes with other folders. While the
// check fails, sharedTools neither lists tools nor opens calls, and each attempt checks again,
// because the operator can remove the cause while the toolhost runs.
//
// Calls between the start of the next toolhost and the next list of tools reach that toolhost
// unchecked. An agent lists the tools in each turn.
type sharedTools struct {
	remoteTools
	check   func(addr string, folders tool.Folders) error
	checked atomic.Pointer[tool.Folders] // the folders that passed the last check
}

// newSharedTools returns the tools of a toolhost that checkShared has accepted.
func newSharedTools(tools remoteTools, check func(addr string, folders tool.Folders) error) *sharedTools {
	t := &sharedTools{remoteTools: tools, check: check}
	t.checked.Store(new(tools.client.Folders()))
	return t
}

// ListTools implements agent.Tools.
func (t *sharedTools) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	infos, err := t.remoteTools.ListTools(ctx, query)
	if err == nil {
		err = t.checkAgain()
	}
	return infos, err
}

// ListChangedTools implements agentTools.
func (t *sharedTools) ListChangedTools(ctx context.Context, query tool.Query, known string) ([]tool.Info, string, error) {
	infos, revision, err := t.remoteTools.ListChangedTools(ctx, query, known)
	if err == nil {
		err = t.checkAgain()
	}
	return infos, revision, err
}

// Open implements agent.Tools.
func (t *sharedTools) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if err := t.checkAgain(); err != nil {
		return nil, err
	}
	return t.remoteTools.Open(ctx, call, complete)
}

// checkAgain returns why the folders that the last list of tools came with cannot be used. The
// error has a kind after which an agent tries again. Concurrent calls may check the same folders.
// If an older check ends last, the next call finds other folders and checks once more.
func (t *sharedTools) checkAgain() error {
	now, checked := t.client.Folders(), t.checked.Load()
	if slices.Equal(now.Writable, checked.Writable) && slices.Equal(now.Hidden, checked.Hidden) {
		return nil
	}
	if err := t.check(t.client.Addr(), now); err != nil {
		return tool.Errorf(tool.KindUnavailable, "another toolhost answers now: %w", err)
	}
	t.checked.Store(&now)
	return nil
}
