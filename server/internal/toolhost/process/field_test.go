package process_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFieldProcesses runs plugins as bug reports about other products describe them. A launch
// either fails and says Refused, or the plugin does the calls. LONG in a flag is a text of 70,000
// bytes. setup checks that no process of a plugin is left.
func TestFieldProcesses(t *testing.T) {
	data, err := os.ReadFile("testdata/field/processes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source, Input, Right string
		Flags, Refused, Logs []string
		Impatient            bool   // toolhost waits for only a moment
		Ends                 string // words of the end, if the plugin ends by itself
		Calls                []struct {
			Do    arguments
			Says  string
			Fails string
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Source+" "+c.Input, func(t *testing.T) {
			for i := range c.Flags {
				c.Flags[i] = strings.ReplaceAll(c.Flags[i], "LONG", strings.Repeat("x", 70_000))
			}
			cfg, log := setup(t, c.Flags...)
			if c.Impatient {
				cfg.StartTimeout = 300 * time.Millisecond
			}
			if len(c.Refused) > 0 {
				err := refused(t, cfg)
				for _, part := range c.Refused {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s There is no %q in %q", c.Right, part, err)
					}
				}
				return
			}
			p := launch(t, cfg)
			for _, call := range c.Calls {
				got, err := outcome(t.Context(), start(t, p, call.Do))
				if (err != nil) != (call.Fails != "") || err != nil && !strings.Contains(err.Error(), call.Fails) || !strings.Contains(got, call.Says) {
					t.Errorf("%s The call %v says %.200q, %v", c.Right, call.Do, got, err)
				}
			}
			for _, line := range c.Logs {
				log.await(t, line)
			}
			if c.Ends == "" {
				p.Kill()
			}
			exit := wait(t, p)
			if words := exit.String() + "\n" + strings.Join(exit.LastStderr, "\n"); !strings.Contains(words, c.Ends) {
				t.Errorf("%s The exit is %s", c.Right, words)
			}
		})
	}
}
