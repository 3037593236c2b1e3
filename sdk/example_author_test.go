package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// The examples use t as a test does. In a test, t is its *testing.T.
var t testing.TB = exampleT{}

// exampleT has the methods of a testing.TB that sdktest calls. A failure ends the example.
type exampleT struct{ testing.TB }

func (exampleT) Helper()                           {}
func (exampleT) Cleanup(func())                    {}
func (exampleT) Context() context.Context          { return context.Background() }
func (exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// pluginWith returns a plugin with one tool.
func pluginWith(t sdk.Tool) sdk.Plugin {
	return sdk.Plugin{Name: "example", Version: "1.0.0", Tools: []sdk.Tool{t}}
}

// Tags declare bounds and defaults. The model gets an error that says which value is allowed, and
// the function gets the default of an absent value.
func ExampleFunc_bounds() {
	type In struct {
		City string `json:"city" minLength:"1"`
		Days int    `json:"days,omitempty" default:"3" minimum:"1" maximum:"14"`
	}
	forecast := sdk.Func(sdk.Spec{Name: "forecast", Description: "The weather to come."},
		func(_ context.Context, in In) (string, error) {
			return fmt.Sprintf("%s, %d days", in.City, in.Days), nil
		})

	h := sdktest.New(t, pluginWith(forecast))
	fmt.Println(h.Call("forecast", `{"city":"Oslo"}`).Text())
	fmt.Println(h.Call("forecast", `{"city":"Oslo","days":99}`).Text())
	// Output:
	// Oslo, 3 days
	// the arguments do not fit the tool's schema:
	// - days: must be at most 14, but is 99
}

// A status tells people what a long call does. It does not reach the model.
func ExampleReportStatus() {
	deploy := sdk.Func(sdk.Spec{Name: "deploy", Description: "Deploys."},
		func(ctx context.Context, _ struct{}) (string, error) {
			sdk.ReportStatus(ctx, sdk.Status{State: sdk.StatusDoing, Message: "copying files"})
			return "deployed", nil
		})

	got := sdktest.New(t, pluginWith(deploy)).Call("deploy", `{}`)
	fmt.Println(got.Statuses[0].State, got.Statuses[0].Message)
	// Output:
	// DOING copying files
}

// Progress has the unit that the tool chooses. If the tool sets Spec.ProgressExtendsTimeout,
// progress also restarts the timeout of the call.
func ExampleReportProgress() {
	index := sdk.Func(sdk.Spec{Name: "index", Description: "Indexes.", ProgressExtendsTimeout: true},
		func(ctx context.Context, _ struct{}) (string, error) {
			sdk.ReportProgress(ctx, 50, 200, "files")
			return "done", nil
		})

	got := sdktest.New(t, pluginWith(index)).Call("index", `{}`)
	p := got.Statuses[0].Progress
	fmt.Println(p.Done, p.Total)
	// Output:
	// 50 200
}

// Log records reach the operator, with the id of the call.
func ExampleLogger() {
	check := sdk.Func(sdk.Spec{Name: "check", Description: "Checks."},
		func(ctx context.Context, _ struct{}) (string, error) {
			sdk.Logger(ctx).Warn("the cache is empty", "entries", 0)
			return "ok", nil
		})

	got := sdktest.New(t, pluginWith(check)).Call("check", `{}`)
	fmt.Println(got.Logs[0].Message)
	// Output:
	// the cache is empty
}

// A tool returns an effect to change a value of the run's context. It declares the key in
// EffectKeys, and reads the value with Value, for which it declares the key in ContextKeys.
func ExampleValue_effect() {
	addTodo := sdk.Func(sdk.Spec{
		Name: "add_todo", Description: "Adds a todo.",
		ContextKeys: []string{sdk.KeyTodos}, EffectKeys: []string{sdk.KeyTodos},
	}, func(ctx context.Context, in struct {
		Text string `json:"text"`
	}) (sdk.Result, error) {
		todos, _, err := sdk.Value[[]string](ctx, sdk.KeyTodos)
		if err != nil {
			return sdk.Result{}, err
		}
		value, err := json.Marshal(append(todos, in.Text))
		if err != nil {
			return sdk.Result{}, err
		}
		result := sdk.TextResult(fmt.Sprintf("%d todos", len(todos)+1))
		result.Effects = []sdk.Effect{{Key: sdk.KeyTodos, Value: value}}
		return result, nil
	})

	got := sdktest.New(t, pluginWith(addTodo)).Call("add_todo", `{"text":"test"}`, sdktest.WithValue(sdk.KeyTodos, []string{"write"}))
	fmt.Println(got.Text(), string(got.Effects[0].Value))
	// Output:
	// 2 todos ["write","test"]
}

// A result may hold several blocks: text, JSON, images and files.
func ExampleImage() {
	chart := sdk.Func(sdk.Spec{Name: "chart", Description: "Draws a chart."},
		func(context.Context, struct{}) (sdk.Result, error) {
			return sdk.Result{Content: []sdk.Content{
				sdk.Text("sales by month"),
				sdk.Image("image/png", []byte("\x89PNG\r\n\x1a\n")),
				sdk.File("sales.csv", "text/csv", []byte("month,sales\n1,100\n")),
			}}, nil
		})

	got := sdktest.New(t, pluginWith(chart)).Call("chart", `{}`)
	for _, block := range got.Content {
		fmt.Printf("%s %q %q\n", block.Kind, block.MediaType, block.Name)
	}
	// Output:
	// text "" ""
	// image "image/png" ""
	// file "text/csv" "sales.csv"
}

// A tool declares the secrets that it needs. The operator says where toolhost finds their values.
func ExampleSecret() {
	fetch := sdk.Func(sdk.Spec{Name: "fetch", Description: "Fetches.", RequiresAuth: []string{"api_key"}},
		func(ctx context.Context, _ struct{}) (string, error) {
			key, found := sdk.Secret(ctx, "api_key")
			if !found {
				return "", sdk.Unavailable("the secret api_key is missing")
			}
			return fmt.Sprintf("a key of %d characters", len(key)), nil
		})

	h := sdktest.New(t, pluginWith(fetch))
	fmt.Println(h.Call("fetch", `{}`, sdktest.WithSecret("api_key", "s3cret")).Text())
	// Output:
	// a key of 6 characters
}

// OpenWorkspace opens the folder of the session. Paths cannot leave it.
func ExampleOpenWorkspace() {
	count := sdk.Func(sdk.Spec{Name: "count", Description: "Counts lines."},
		func(ctx context.Context, in struct {
			Path string `json:"path"`
		}) (int, error) {
			w, err := sdk.OpenWorkspace(ctx)
			if err != nil {
				return 0, err
			}
			defer w.Close()
			text, err := w.ReadFile(ctx, in.Path)
			if err != nil {
				return 0, err
			}
			return strings.Count(string(text), "\n"), nil
		})

	// Memory takes the place of the folder, so that the test needs no files.
	files := workspace.NewMemory(map[string]workspace.MemoryFile{"a.txt": {Content: "one\ntwo\n"}})
	ctx := workspace.NewContext(context.Background(), files)
	h := sdktest.New(t, pluginWith(count))
	fmt.Println(h.Call("count", `{"path":"a.txt"}`, sdktest.WithContext(ctx)).Text())
	fmt.Println(h.Call("count", `{"path":"../a.txt"}`, sdktest.WithContext(ctx)).Text())
	// Output:
	// 2
	// the path "../a.txt" leads out of the workspace; paths are relative to it and stay within it
}

// A dynamic tool has another description or schema for each session.
func ExampleTool_Dynamic() {
	query := sdk.Func(sdk.Spec{Name: "query", Description: "Queries a table.", ContextKeys: []string{sdk.KeyTenant}},
		func(_ context.Context, in struct {
			Table string `json:"table"`
		}) (string, error) {
			return "rows of " + in.Table, nil
		},
	).Dynamic(func(ctx context.Context) (sdk.Variant, error) {
		tenant, _, err := sdk.Value[string](ctx, sdk.KeyTenant)
		return sdk.Variant{Description: "Queries a table of " + tenant + "."}, err
	})

	h := sdktest.New(t, pluginWith(query))
	fmt.Println(h.Describe(sdktest.WithValue(sdk.KeyTenant, "acme")).Tools[0].Description)
	// Output:
	// Queries a table of acme.
}

// A tool looks up what became of a call that a crash interrupted, under the id with which it
// recorded the call.
func ExampleSettle() {
	booked := map[string]string{"c-1": "seat 12"} // by call id; in reality in the booking system
	book := sdk.Func(sdk.Spec{Name: "book", Description: "Books a seat."},
		func(ctx context.Context, _ struct{}) (string, error) {
			booked[sdk.CallID(ctx)] = "seat 13"
			return booked[sdk.CallID(ctx)], nil
		})
	book = sdk.Settle(book, func(ctx context.Context, _ struct{}) (sdk.Settlement, error) {
		seat, ok := booked[sdk.CallID(ctx)]
		if !ok {
			return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen}, nil
		}
		return sdk.Settlement{Verdict: sdk.VerdictHappened, Result: new(sdk.TextResult(seat))}, nil
	})

	h := sdktest.New(t, pluginWith(book))
	first, _ := h.Settle("book", `{}`, sdktest.WithCallID("c-1"))
	fmt.Println(first.Verdict, first.Result.Text())
	second, _ := h.Settle("book", `{}`, sdktest.WithCallID("c-2"))
	fmt.Println(second.Verdict)
	// Output:
	// happened seat 12
	// did_not_happen
}

// An ordinary error tells the model what was wrong with its call. An *Error tells the caller about
// a failure that the model cannot correct.
func ExampleError() {
	read := sdk.Func(sdk.Spec{Name: "read", Description: "Reads a file."},
		func(_ context.Context, in struct {
			Path string `json:"path"`
		}) (string, error) {
			switch in.Path {
			case "busy":
				return "", sdk.RateLimited(time.Minute, "the disk is busy")
			case "locked":
				return "", sdk.Denied("the file is locked")
			}
			return "", fmt.Errorf("opening %s: %w", in.Path, os.ErrNotExist)
		})

	h := sdktest.New(t, pluginWith(read))
	missing := h.Call("read", `{"path":"a.txt"}`)
	fmt.Println(missing.IsError, missing.Text())
	busy := h.Call("read", `{"path":"busy"}`)
	fmt.Println(busy.Err.Kind, busy.Err.RetryAfter)
	locked := h.Call("read", `{"path":"locked"}`)
	fmt.Println(locked.Err.Kind)
	// Output:
	// true opening a.txt: file does not exist
	// rate_limited 1m0s
	// denied
}

// The context of a call ends when the caller cancels it or its timeout expires. A tool passes the
// context to everything that blocks.
func ExampleFunc_cancellation() {
	started := make(chan struct{})
	wait := sdk.Func(sdk.Spec{Name: "wait", Description: "Waits."},
		func(ctx context.Context, _ struct{}) (string, error) {
			close(started)
			<-ctx.Done()
			return "", context.Cause(ctx)
		})

	s := sdktest.New(t, pluginWith(wait)).Stream("wait")
	s.Complete(`{}`)
	<-started
	s.Cancel()
	fmt.Println(s.Wait().Err.Kind)
	// Output:
	// cancelled
}

// A Previewer sees the arguments while the model still writes them.
func ExamplePreviewer() {
	write := sdk.Object(sdk.Spec{Name: "write", Description: "Writes a text.", PartialArguments: true},
		func(context.Context) (*writer, error) { return &writer{}, nil })

	s := sdktest.New(t, pluginWith(write)).Stream("write")
	s.Append(`{"text":"one\ntw`)
	fmt.Println(s.WaitStatus(func(status sdk.Status) bool { return status.Message == "line 2" }).Message)
	s.Append(`o"}`)
	s.Complete(nil)
	fmt.Println(s.Wait().Text())
	// Output:
	// line 2
	// 7 bytes written
}

// A retry policy lets toolhost repeat a call that failed with an *Error. The tool promises that a
// second execution has the same outcome.
func ExampleAttempt() {
	fetch := sdk.Func(sdk.Spec{
		Name: "fetch", Description: "Fetches.", Idempotent: true,
		Retry: sdk.RetryPolicy{MaxAttempts: 3},
	}, func(ctx context.Context, _ struct{}) (string, error) {
		if sdk.Attempt(ctx) == 1 {
			return "", sdk.Unavailable("the service restarts")
		}
		return "fetched", nil
	})

	h := sdktest.New(t, pluginWith(fetch))
	first := h.Call("fetch", `{}`)
	fmt.Println(first.Err.Kind)
	fmt.Println(h.Call("fetch", `{}`, sdktest.WithAttempt(2)).Text())
	// Output:
	// unavailable
	// fetched
}
