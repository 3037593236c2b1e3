// Command crowd is a plugin with any number of tools. It is the interpreter of script files, and
// each file is one plugin. The second line of a file has the plugin's number and its number of
// tools. The first tool of the first plugin is echo, which does the benchmark's work.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolhost/toolhost/bench/internal/work"
	"github.com/toolhost/toolhost/sdk"
)

func main() {
	plugin, err := read(os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "crowd:", err)
		os.Exit(2)
	}
	sdk.Serve(plugin)
}

func read(args []string) (sdk.Plugin, error) {
	if len(args) < 2 {
		return sdk.Plugin{}, fmt.Errorf("usage: crowd FILE")
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return sdk.Plugin{}, err
	}
	_, line, _ := strings.Cut(string(text), "\n")
	var number, count int
	if _, err := fmt.Sscan(line, &number, &count); err != nil {
		return sdk.Plugin{}, fmt.Errorf("reading %s: %w", args[1], err)
	}
	return sdk.Plugin{Name: fmt.Sprint("crowd", number), Version: "1.0.0", Tools: tools(number, count)}, nil
}

// tools declares the tools. One in a hundred has the tag "rare", for measurements of filters.
func tools(number, count int) []sdk.Tool {
	var all []sdk.Tool
	for i := range count {
		n := number*count + i
		spec := sdk.Spec{Name: fmt.Sprint("tool", n), ReadOnly: true, Tags: []string{"crowd"},
			Description: fmt.Sprintf("Answers with a text of the size asked for, as %d others do.", count)}
		if n == 0 {
			spec.Name = "echo"
		}
		if n%100 == 0 {
			spec.Tags = append(spec.Tags, "rare")
		}
		all = append(all, sdk.Func(spec, func(_ context.Context, in work.Request) (string, error) { return in.Answer(), nil }))
	}
	return all
}
