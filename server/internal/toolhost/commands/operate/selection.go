package operate

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// selection holds the flags that select tools.
type selection struct {
	names, categories, tags []string
	dangerous               bool
	maxCost                 float64
	most                    int
	session                 string
	changed                 func(flag string) bool
}

// addFlags adds the flags to a command. otherwise describes the number of tools without --max.
func (s *selection) addFlags(cmd *cobra.Command, otherwise string) {
	flags := cmd.Flags()
	flags.StringSliceVar(&s.names, "name", nil, "only tools of these `NAMES`")
	flags.StringSliceVar(&s.categories, "category", nil, "only tools of these `CATEGORIES`")
	flags.StringSliceVar(&s.tags, "tag", nil, "only tools with at least one of these `TAGS`")
	flags.BoolVar(&s.dangerous, "dangerous", false, "only dangerous tools; with =false only others (default: both)")
	flags.Float64Var(&s.maxCost, "max-cost", 0, "only tools that `COST` at most this per use (default: any)")
	flags.IntVar(&s.most, "max", 0, "at most `N` tools (default: "+otherwise+")")
	flags.StringVar(&s.session, "session", "", "dynamic tools as this `SESSION` sees them")
	s.changed = flags.Changed
}

// filters reports whether a flag excludes tools.
func (s *selection) filters() bool {
	return slices.ContainsFunc([]string{"name", "category", "tag", "dangerous", "max-cost", "max"}, s.changed)
}

// query returns the query of the flags.
func (s *selection) query() (tool.Query, error) {
	q := tool.Query{Names: s.names, Categories: s.categories, Tags: s.tags, MaxTools: s.most, Session: s.session}
	if err := tool.CheckID(s.session); s.session != "" && err != nil {
		return q, cli.Usage("--session: %w", err)
	}
	if s.changed("max") && s.most < 1 {
		return q, cli.Usage("--max: %d is not positive; leave it out for the default", s.most)
	}
	if s.changed("dangerous") {
		q.Dangerous = &s.dangerous
	}
	if s.changed("max-cost") {
		q.MaxCostPerUse = &s.maxCost
	}
	return q, nil
}
