package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

const description = `Runs a command line with bash (sh where there is none) in the workspace and returns its exit code, stdout and stderr. Use it to build, test and search with the programs of this machine; prefer file tools to read and write files.
Each call is a new shell: cd and variables do not last, files do. There is no terminal: pass flags such as --yes, and start no editors, pagers or REPLs. Background processes end with the shell. Unless the operator opened it, there is no network but localhost.
The result begins with JSON (exit_code, …), then has stdout and stderr. An exit code other than 0 marks the result as an error; grep and diff also answer with it. Long output is kept as an artifact; filter with head, tail or grep.`

const (
	// margin is how long before the call's deadline a command is ended, so that its output still
	// arrives.
	margin = yield + drain
)

type input struct {
	Command          string            `json:"command" jsonschema:"the command line or script, as one would type it, such as: go test ./... 2>&1 | tail -n 40" minLength:"1" maxLength:"100000"`
	TimeoutSeconds   float64           `json:"timeout_seconds" jsonschema:"after how many seconds the command is ended if it is not done; give more to builds and long tests" default:"120" minimum:"0.1" maximum:"590"`
	WorkingDirectory string            `json:"working_directory" jsonschema:"the folder to run in, relative to the workspace, such as src/server; . is the workspace itself" default:"." minLength:"1"`
	Stdin            string            `json:"stdin,omitempty" jsonschema:"text that the command reads as its standard input: for long or oddly quoted data, instead of echo or a here document"`
	StdinArtifact    string            `json:"stdin_artifact,omitempty" jsonschema:"the handle of an artifact, such as artifact-3kq6, whose content the command reads as its standard input: to search or process a result that was too large to be shown"`
	Env              map[string]string `json:"env,omitempty" jsonschema:"environment variables for the command, by name, such as {\"CGO_ENABLED\": \"0\"}"`
}

func shellTool(l *launcher) sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:         "shell",
		Version:      "1.0.0",
		DisplayName:  "Shell",
		Description:  description,
		Category:     "system",
		OutputSchema: json.RawMessage(outcomeSchema),
		InputExamples: []sdk.InputExample{
			{Description: "test a package", Arguments: json.RawMessage(`{"command":"go test ./server/...","timeout_seconds":300}`)},
			{Description: "try a server", Arguments: json.RawMessage(`{"command":"npm start & sleep 3; curl -sS localhost:8080","working_directory":"web"}`)},
			{Description: "count in a large result", Arguments: json.RawMessage(`{"command":"jq '.items | length'","stdin_artifact":"artifact-3kq6"}`)},
		},
		Timeout:   10 * time.Minute,
		Dangerous: true,
		Serial:    true,
	}, l.shell)
}

// shell runs one command. Every ending of the command is a result. An error means that it did not
// run.
func (l *launcher) shell(ctx context.Context, in input) (sdk.Result, error) {
	folder, err := openFolder(sdk.Workspace(ctx), in.WorkingDirectory)
	if err != nil {
		return sdk.Result{}, err
	}
	defer folder.Close()
	env, err := environ(os.Environ(), in.Env)
	if err != nil {
		return sdk.Result{}, err
	}
	stdin, err := openInput(ctx, in)
	if err != nil {
		return sdk.Result{}, err
	}
	defer stdin.Close() // also works for nil
	if strings.ContainsRune(in.Command, 0) {
		return sdk.Result{}, errors.New("the command contains a NUL character")
	}
	return l.tell(ctx, in, job{command: []string{interpreter(), "-c", in.Command}, folder: folder, env: env, stdin: stdin})
}

// tell runs the job, reports its progress and returns its result.
func (l *launcher) tell(ctx context.Context, in input, j job) (sdk.Result, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(in.Command), "\n")
	sdk.ReportStatus(ctx, sdk.Status{Tip: tip("$ " + first)})
	teller := newTeller()
	e := &ending{stdout: &capture{notice: teller.stream()}, stderr: &capture{notice: teller.stream()}}
	defer e.stdout.Close() // an unlinked file loses nothing
	defer e.stderr.Close()
	j.stdout, j.stderr = e.stdout, e.stderr

	limit := timeLimit(ctx, in.TimeoutSeconds)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	telling, told := context.WithCancel(limited)
	var people sync.WaitGroup
	people.Go(func() { teller.tell(telling, sdk.ReportStatus) })
	began := time.Now()
	var err error
	e.report, err = l.run(limited, j)
	e.duration = time.Since(began)
	told()
	people.Wait()
	switch {
	case ctx.Err() != nil:
		return sdk.Result{}, ctx.Err()
	case errors.Is(err, errLost):
		e.lost, e.Told = err, limited.Err() != nil
	case err != nil:
		return sdk.Result{}, sdk.Unavailable("running the command: %w", err)
	case e.Failure != "":
		return sdk.Result{}, fmt.Errorf("the command could not be started: %s", e.Failure)
	}
	if e.Told {
		e.limit = limit
	}
	return e.result()
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

// interpreter returns the shell program.
func interpreter() string {
	if path, err := exec.LookPath("bash"); err == nil {
		return path
	}
	return "/bin/sh"
}
