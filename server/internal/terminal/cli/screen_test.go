package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func TestTableFitsTheTerminal(t *testing.T) {
	for name, test := range map[string]struct {
		screen cli.Screen
		rows   [][]string
		want   string
	}{
		"not a terminal": {
			cli.Screen{}, [][]string{{"weather", "quarantined", "it crashed five times within a minute"}},
			"PLUGIN   STATE        NOTES\nweather  quarantined  it crashed five times within a minute\n",
		},
		"wraps at words": {
			cli.Screen{Columns: 40}, [][]string{{"weather", "enabled", "it crashed five times within a minute"}},
			"PLUGIN   STATE    NOTES\nweather  enabled  it crashed five times\n                  within a minute\n",
		},
		"breaks a long word": {
			cli.Screen{Columns: 40}, [][]string{{"weather", "enabled", strings.Repeat("x", 30)}},
			"PLUGIN   STATE    NOTES\nweather  enabled  xxxxxxxxxxxxxxxxxxxxxx\n                  xxxxxxxx\n",
		},
		"wide characters": {
			cli.Screen{}, [][]string{{"天気", "enabled", "x"}, {"plugin", "paused", "y"}},
			"PLUGIN  STATE    NOTES\n天気    enabled  x\nplugin  paused   y\n",
		},
		"colors": {
			cli.Screen{Columns: 80, Color: true}, [][]string{{"a", "quarantined", "quarantined"}, {"enabled", "enabled", "\x1b[32menabled"}},
			"PLUGIN   STATE        NOTES\na        \x1b[31mquarantined\x1b[0m  quarantined\nenabled  \x1b[32menabled\x1b[0m      \\x1b[32menabled\n",
		},
	} {
		var b strings.Builder
		if err := cli.WriteTable(&b, test.screen, []string{"PLUGIN", "STATE", "NOTES"}, test.rows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestColorsNeedATerminal(t *testing.T) {
	var b strings.Builder
	p := cli.Process{Stdout: &b, Getenv: func(string) string { return "" }}
	if got := p.Screen(); got != (cli.Screen{}) {
		t.Errorf("output that is not a terminal has %+v", got)
	}
}
