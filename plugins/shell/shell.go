package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
)

const description = `Runs a command line with bash (sh where there is none) in the workspace and returns its exit code, stdout and stderr. Use it to build, test and search with the programs of this machine; prefer file tools to read and write files.
Each call is a new shell: cd and variables do not last, files do. There is no terminal: pass flags such as --yes, and start no editors, pagers or REPLs. Background processes end with the shell. Unless the operator opened it, there is no network but localhost.
The result begins with JSON (exit_code, …), then has stdout and stderr. An exit code other than 0 marks the result as an error; grep and diff also answer with it. Long output is kept as an artifact; filter with head, tail or grep.`

const (
	// margin is how long before the call's deadline a command is ended, so that its output still
	// arrives.
	margin = commands.EndTime
)

type input struct {
	Command          string            `json:"command" jsonschema:"the command line or script, as one would type it, such as: go test ./... 2>&1 | tail -n 40" minLength:"1" maxLength:"100000"`
	TimeoutSeconds   float64           `json:"timeout_seconds" jsonschema:"after how many seconds the command is ended if it is not done; give more to builds and long tests" default:"120" minimum:"0.1" maximum:"590"`
	WorkingDirectory string            `json:"working_directory" jsonschema:"the folder to run in, relative to the workspace, such as src/server; . is the workspace itself" default:"." minLength:"1"`
	Stdin            string            `json:"stdin,omitempty" jsonschema:"text that the command reads as its standard input: for long or oddly quoted data, instead of echo or a here document"`
	StdinArtifact    string            `json:"stdin_artifact,omitempty" jsonschema:"the handle of an artifact, such as artifact-3kq6, whose content the command reads as its standard input: to search or process a result that was too large to be shown"`
	Env              map[string]string `json:"env,omitempty" jsonschema:"environment variables for the command, by name, such as {\"CGO_ENABLED\": \"0\"}"`
}

func shellTool(l *commands.Launcher) sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "shell",
		Version:     "1.0.0",
		DisplayName: "Shell",
		Description: description,
		Category:    "system",
		// what standing approvals may permit
		Metadata: map[string]json.RawMessage{"toolhost.arguments": json.RawMessage(`{"command":"command","stdin":"command","stdin_artifact":"command","env":"command","working_directory":"command"}`)},
		InputExamples: []sdk.InputExample{
			{Description: "test a package", Arguments: json.RawMessage(`{"command":"go test ./server/...","timeout_seconds":300}`)},
			{Description: "try a server", Arguments: json.RawMessage(`{"command":"npm start & sleep 3; curl -sS localhost:8080","working_directory":"web"}`)},
			{Description: "count in a large result", Arguments: json.RawMessage(`{"command":"jq '.items | length'","stdin_artifact":"artifact-3kq6"}`)},
		},
		Timeout:   10 * time.Minute,
		Dangerous: true,
		Serial:    true,
	}, shell{l}.run)
}

// shell is the tool.
type shell struct{ launcher *commands.Launcher }

// run runs one command. Every ending of the command is a result. An error means that it did not
// run.
func (s shell) run(ctx context.Context, in input) (sdk.Result, error) {
	w, err := sdk.OpenWorkspace(ctx)
	if err != nil {
		return sdk.Result{}, err
	}
	defer w.Close() // closing a folder reports nothing useful
	runner, err := s.launcher.In(w)
	if err != nil {
		return sdk.Result{}, err
	}
	return tell(ctx, runner, in)
}

// tell runs the command, reports its progress and returns its result.
func tell(ctx context.Context, runner workspace.Commands, in input) (sdk.Result, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(in.Command), "\n")
	sdk.ReportStatus(ctx, sdk.Status{Message: statusMessage("$ " + first)})
	teller := newTeller()
	e := &ending{stdout: &capture{notice: teller.stream()}, stderr: &capture{notice: teller.stream()}}
	defer e.stdout.Close() // an unlinked file loses nothing
	defer e.stderr.Close()

	limit := timeLimit(ctx, in.TimeoutSeconds)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	telling, told := context.WithCancel(limited)
	var people sync.WaitGroup
	people.Go(func() { teller.tell(telling, sdk.ReportStatus) })
	began := time.Now()
	exit, err := e.run(limited, runner, in, "bash")
	if errors.Is(err, workspace.ErrNoProgram) {
		exit, err = e.run(limited, runner, in, "/bin/sh")
	}
	e.Exit, e.duration = exit, time.Since(began)
	told()
	people.Wait()
	switch {
	case ctx.Err() != nil:
		return sdk.Result{}, ctx.Err()
	case errors.Is(err, workspace.ErrUnknownOutcome):
		e.lost, e.Ended = err, limited.Err() != nil
	case err != nil:
		return sdk.Result{}, err
	}
	if e.Ended {
		e.limit = limit
	}
	return e.result()
}

// run runs the command line with a shell.
func (e *ending) run(ctx context.Context, runner workspace.Commands, in input, shell string) (workspace.Exit, error) {
	stdin, err := openInput(ctx, in)
	if err != nil {
		return workspace.Exit{}, err
	}
	return runner.Run(ctx, workspace.Command{
		Argv: []string{shell, "-c", in.Command}, Dir: in.WorkingDirectory, Env: in.Env, Stdin: stdin, Stdout: e.stdout, Stderr: e.stderr,
	})
}

// timeLimit returns the time limit of the command: the requested one or the rest of the call's
// time, whichever is shorter.
func timeLimit(ctx context.Context, seconds float64) time.Duration {
	limit := time.Duration(seconds * float64(time.Second))
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, max(time.Until(deadline)-margin, time.Until(deadline)/2))
	}
	return limit
}
