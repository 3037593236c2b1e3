package sdk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolhost/toolhost/sdk"
)

// The test binary also runs as the plugins that the tests start. testscript puts it into PATH under
// their names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weather": func() { sdk.Serve(weatherPlugin()) },
		"broken": func() {
			sdk.Serve(sdk.Plugin{Name: "broken", Tools: []sdk.Tool{
				sdk.Func(sdk.Spec{Name: "two words", Description: "x"}, echo),
				sdk.Func(sdk.Spec{Name: "x"}, func(context.Context, struct{ C chan int }) (string, error) { return "", nil }),
			}})
		},
		"doomed": doomedHost,
	})
}

type forecastIn struct {
	City string `json:"city" jsonschema:"the city's name, in English"`
	Days int    `json:"days,omitempty" default:"1" minimum:"1" maximum:"14"`
}

type forecastOut struct {
	Text string `json:"text"`
	PID  int    `json:"pid"`
}

// weatherPlugin is a typical plugin, with a tool that shows how its process ends.
func weatherPlugin() sdk.Plugin {
	return sdk.Plugin{Name: "weather", Version: "1.0.0", Description: "Weather for tests.", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "forecast", Description: "The weather to come.\nNot for the past.", ReadOnly: true},
			func(_ context.Context, in forecastIn) (forecastOut, error) {
				return forecastOut{Text: fmt.Sprintf("%d days of rain in %s", in.Days, in.City), PID: os.Getpid()}, nil
			}),
		sdk.Func(sdk.Spec{Name: "leave", Description: "Says good bye and exits."},
			func(context.Context, struct{}) (string, error) {
				fmt.Println("good bye on standard output")
				fmt.Fprintln(os.Stderr, "good bye on standard error")
				os.Exit(3)
				return "", nil
			}),
		sdk.Object(sdk.Spec{Name: "hold", Description: "Works until it is told to stop, and says so in the workspace."},
			func(ctx context.Context) (*holder, error) { return &holder{sdk.Workspace(ctx)}, nil }),
	}}
}

// holder writes a file when it is closed.
type holder struct{ dir string }

func (h *holder) Call(ctx context.Context, _ struct{}) (string, error) {
	sdk.ReportStatus(ctx, sdk.Status{Message: "holding"})
	<-ctx.Done()
	return "", ctx.Err()
}

// Close blocks until the process has begun to end: its socket is gone then.
func (h *holder) Close() error {
	for {
		left, err := os.ReadDir(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"))
		if err != nil || len(left) == 0 {
			break
		}
		runtime.Gosched()
	}
	return os.WriteFile(filepath.Join(h.dir, "closed"), nil, 0o600)
}
