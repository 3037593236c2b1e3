package mcp

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/tool"
)

// profile is what `mcp serve` offers, to which session its calls belong, and how long they wait.
type profile struct {
	filter  operate.Filter
	search  bool
	session string
	wait    time.Duration // for an approval
	flags   *pflag.FlagSet
}

// addFlags adds the flags of a profile.
func (p *profile) addFlags(flags *pflag.FlagSet) {
	p.flags = pflag.NewFlagSet("profile", pflag.ContinueOnError)
	p.filter.AddFlags(p.flags)
	p.flags.BoolVar(&p.search, "search", false, "offer two tools, find_tools and call_tool, instead of all tools: for more tools than a model can be shown")
	p.flags.StringVar(&p.session, "session", "", "the `SESSION` that the calls belong to")
	p.flags.DurationVar(&p.wait, "wait-for-approval", 0, "keep the request of a call that a person has to approve open for this `TIME`, such as 45s, if the client cannot ask one (default: answer at once)")
	flags.AddFlagSet(p.flags)
}

func (p *profile) check() error {
	if err := tool.CheckID(p.session); p.session != "" && err != nil {
		return cli.Usage("--session: %w", err)
	}
	if p.wait < 0 {
		return cli.Usage("--wait-for-approval: %s is negative; leave it out to answer at once", p.wait)
	}
	return nil
}

// arguments returns the flags of the command line in a form that `mcp serve` reads alike.
func (p *profile) arguments() []string {
	var all []string
	p.flags.VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		list, ok := f.Value.(pflag.SliceValue)
		if ok {
			values = slices.Clone(list.GetSlice())
		}
		for _, value := range values {
			if ok && strings.ContainsAny(value, ",\"\r\n") { // a list of pflag is a line of CSV
				value = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
			}
			switch {
			case f.Changed && value == "true" && f.Value.Type() == "bool":
				all = append(all, "--"+f.Name)
			case f.Changed:
				all = append(all, "--"+f.Name+"="+value)
			}
		}
	})
	return all
}
