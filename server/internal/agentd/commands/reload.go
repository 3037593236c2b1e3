package commands

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/notify"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/systemd"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/tool"
)

// reloader applies a changed configuration file to a running `agentd serve`. It implements
// agentserver.Configuration. A reload uses a file only under the rules of a start, and a file with
// a fault changes nothing.
type reloader struct {
	agent     *agent.Agent
	notifier  *notify.Notifier
	service   systemd.Service
	log       *slog.Logger
	levels    *logging.Log
	exported  *telemetry.Telemetry
	again     func(ctx context.Context) (*setup, error) // reads the file with the same flags
	level     string                                    // the flag --log-level
	access    *gate.Access
	decisions *audit.Log
	callers   *credentials.Credentials
	sameUser  bool   // all callers are this user
	admits    string // the role of the callers of plain TCP ports; empty: there are none

	mu      sync.Mutex // held while a reload reads and applies the file
	inForce *setup
}

// Reload implements agentserver.Configuration.
func (r *reloader) Reload(ctx context.Context) *tool.ConfigurationChange {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.service.Reloading()
	defer func() { r.service.Ready(r.inForce.opened.status()) }()
	change, next := r.read(ctx)
	if change != nil && change.Problem == "" {
		err := access.NoteReload(ctx, r.decisions, change)
		if err == nil {
			err = r.apply(next)
		}
		if err != nil {
			change = r.refusal(err)
		}
	}
	configfile.LogChange(r.log, program, "the changed configuration is in force for new runs", change)
	return change
}

// Diff implements agentserver.Configuration.
func (r *reloader) Diff(ctx context.Context) *tool.ConfigurationChange {
	r.mu.Lock()
	defer r.mu.Unlock()
	change, _ := r.read(ctx)
	return change
}

func (r *reloader) refusal(err error) *tool.ConfigurationChange {
	return &tool.ConfigurationChange{File: r.inForce.source.Path, Problem: err.Error()}
}

// read reads the file and compares it with the configuration in force. The change is nil if nothing
// differs. next has the settings that apply after a reload.
func (r *reloader) read(ctx context.Context) (change *tool.ConfigurationChange, next *setup) {
	next, err := r.again(ctx)
	if err != nil {
		return r.refusal(err), nil
	}
	differences := agentconfig.Diff(&r.inForce.config, &next.config)
	files := slices.Concat(changedInstructions(r.inForce, next), changedSchemas(r.inForce, next), changedMemory(r.inForce, next))
	if len(differences) == 0 && len(files) == 0 {
		return nil, nil
	}
	change = &tool.ConfigurationChange{File: next.source.Path, Changes: files}
	for _, d := range differences {
		change.Changes = append(change.Changes, tool.SettingChange(d))
	}
	next.config = agentconfig.Applicable(&r.inForce.config, &next.config)
	return change, next
}

// changedInstructions returns the files with instructions whose content differs although their path
// does not.
func changedInstructions(before, now *setup) (changes []tool.SettingChange) {
	for _, name := range slices.Sorted(maps.Keys(now.texts.instructions)) {
		old, known := before.texts.instructions[name]
		path := now.config.Agents[name].InstructionsFile
		if known && old != now.texts.instructions[name] && before.config.Agents[name].InstructionsFile == path {
			changes = append(changes, tool.SettingChange{
				Key: "agents." + name + ".instructions_file", Old: contentOf(path, old), New: contentOf(path, now.texts.instructions[name]),
			})
		}
	}
	return changes
}

// changedMemory returns the memory files whose content differs.
func changedMemory(before, now *setup) (changes []tool.SettingChange) {
	for _, path := range slices.Sorted(maps.Keys(now.texts.memory)) {
		if old, known := before.texts.memory[path]; known && old != now.texts.memory[path] {
			changes = append(changes, tool.SettingChange{Key: "memory", Old: contentOf(path, old), New: contentOf(path, now.texts.memory[path])})
		}
	}
	return changes
}

// contentOf names a file with a digest of its content.
func contentOf(path, text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s (sha256 %x…)", path, sum[:6])
}

// apply puts the next configuration in force. An error means that nothing has changed.
func (r *reloader) apply(next *setup) error {
	levels, err := next.levels(r.level)
	if err != nil {
		return err
	}
	if next.opened, err = next.models().openModel(); err != nil {
		return err
	}
	traces, err := r.exported.Prepare(next.config.Telemetry)
	if err != nil {
		return err
	}
	identify, cancel, err := r.callers.Prepare(&next.config.Auth)
	if err != nil {
		return err
	}
	config, err := next.agentConfig(true)
	if err != nil {
		cancel()
		return err
	}
	messages, err := next.notifySettings()
	if err != nil {
		cancel()
		return err
	}
	config.TrustCallers = next.config.Telemetry.Traces.Trusts(r.sameUser)
	if err := r.agent.Reconfigure(config); err != nil {
		cancel()
		return err
	}
	r.notifier.Set(messages)
	warnAboutModels(r.log, &config)
	traces()
	identify()
	r.access.Set(gate.PolicyFor(next.config.Auth.Grants(), r.admits))
	gate.WarnAboutOwner(context.Background(), r.callers, r.access.Policy(), r.log)
	r.levels.SetLevels(levels)
	r.inForce = next
	return nil
}

// onHangup reloads at each SIGHUP. stop ends the goroutine and waits for it.
func (r *reloader) onHangup() (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	var reloading sync.WaitGroup
	reloading.Go(func() { // ends with ctx
		for {
			select {
			case <-hangups:
				if err := r.decisions.Reopen(); err != nil {
					r.log.Error("the audit log cannot be opened again; the open file stays in use", "error", err)
				}
				r.Reload(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		reloading.Wait()
	}
}

// again reads the configuration file with the same flags.
func (s *setup) again(ctx context.Context) (*setup, error) {
	next := &setup{
		process: s.process, file: s.file, model: s.model, baseURL: s.baseURL, toolhost: s.toolhost, journal: s.journal,
		usesToolhost: s.usesToolhost, startsToolhost: s.startsToolhost, redactor: s.redactor,
	}
	return next, next.load(ctx)
}
