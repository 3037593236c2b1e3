package serve

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
)

// NewPolicyCommand returns the command `policy`.
func NewPolicyCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Test the rules that say which calls may be made",
		Long:  "Policy tests the rules that toolhost.yaml has under policy. docs/policy/README.md describes them.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyTestCommand(p))
	return cmd
}

func newPolicyTestCommand(p cli.Process) *cobra.Command {
	var format cli.Format
	var configured string
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Run examples of calls against the rules",
		Long: "Test decides on each case of a YAML file as `toolhost serve` would, and prints those that come out otherwise than\n" +
			"expected. It needs no server, and calls nothing. It exits with 1 if a case fails, and with 2 if a file is wrong.\n" +
			"With -o json it prints an object: file, config, cases, passed, failed and unreached_rules.",
		Example: "  toolhost policy test cases.yaml --config toolhost.yaml",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("config") && configured == "" {
				return cli.Usage("the name of the configuration file is empty")
			}
			tested, err := testPolicy(cmd.Context(), p, args[0], configured)
			if err != nil {
				return err
			}
			if format.JSON() {
				err = cli.WriteJSON(p.Stdout, tested)
			} else {
				_, err = fmt.Fprint(p.Out(), tested.text())
			}
			if err == nil && tested.Failed > 0 {
				err = &cli.ExitError{Code: cli.ExitToolError}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&configured, "config", "", "configuration `FILE` (default: toolhost.yaml here, or in XDG_CONFIG_HOME/toolhost)")
	format.AddFlag(cmd.Flags())
	return cmd
}

// policyTest is the result of `policy test`, as -o json prints it.
type policyTest struct {
	File           string       `json:"file"`
	Config         string       `json:"config"` // empty: there is none
	Rules          int          `json:"rules"`
	Passed         int          `json:"passed"`
	Failed         int          `json:"failed"`
	UnreachedRules []string     `json:"unreached_rules"` // that decided no case
	Cases          []policyCase `json:"cases"`
}

// policyCase is a case and its result.
type policyCase struct {
	Name         string         `json:"name"`
	Line         int            `json:"line"`
	Column       int            `json:"column"`
	Passed       bool           `json:"passed"`
	Expected     policy.Verdict `json:"expected"`
	ExpectedRule *string        `json:"expected_rule,omitempty"` // empty means no rule
	Got          policy.Verdict `json:"got"`
	Rule         string         `json:"rule"` // empty: none
	Reason       string         `json:"reason,omitempty"`
	// CEL's error if the rule could not be evaluated
	Error string `json:"error,omitempty"`
}

// testPolicy runs the cases of a file against the rules of the configuration at a path, or of the
// configuration that the search finds if the path is empty.
func testPolicy(ctx context.Context, p cli.Process, file, configPath string) (*policyTest, error) {
	program := configuration()
	configFile, err := program.Read(p.Getenv, configPath)
	if err != nil {
		return nil, err
	}
	c, err := program.Decode(configFile)
	if err != nil {
		return nil, err
	}
	rules, err := c.Policy.Compile()
	if err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.Usage("reading the cases: %w", err)
	}
	cases, err := policy.ReadCases(file, text)
	if err != nil {
		return nil, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	if err := program.NoteDistrust(p.Err(), configfile.CheckTrust(p.Getenv, configFile, nil)); err != nil {
		return nil, err
	}
	t := &policyTest{File: file, Config: configFile.Path, Rules: len(c.Policy.Rules)}
	for _, each := range cases {
		got, passed, err := each.Check(ctx, rules)
		if err != nil {
			return nil, err
		}
		t.add(each, got, passed)
	}
	t.UnreachedRules = unreached(c.Policy.Rules, t.Cases)
	return t, nil
}

func (t *policyTest) add(c policy.Case, got policy.Decision, passed bool) {
	view := policyCase{
		Name: c.Name, Line: c.Line, Column: c.Column, Passed: passed, Expected: c.Expect, ExpectedRule: c.Rule,
		Got: got.Then, Rule: got.Rule, Reason: got.Reason,
	}
	if got.Err != nil {
		view.Error = got.Err.Error()
	}
	if passed {
		t.Passed++
	} else {
		t.Failed++
	}
	t.Cases = append(t.Cases, view)
}

func unreached(rules []config.Rule, cases []policyCase) []string {
	names := []string{}
	for _, r := range rules {
		if !slices.ContainsFunc(cases, func(c policyCase) bool { return c.Rule == r.Name }) {
			names = append(names, r.Name)
		}
	}
	return names
}

func (t *policyTest) text() string {
	var b strings.Builder
	for _, c := range t.Cases {
		if !c.Passed {
			fmt.Fprintf(&b, "%s:%d:%d: %s\n", t.File, c.Line, c.Column, cli.OneLine(c.text()))
		}
	}
	against := "the defaults, without a configuration file"
	if t.Config != "" {
		against = fmt.Sprintf("%s of %s", cli.Count(t.Rules, "rule"), t.Config)
	}
	if t.Failed == 0 {
		fmt.Fprintf(&b, "%s passed, against %s\n", cli.Count(t.Passed, "case"), against)
	} else {
		fmt.Fprintf(&b, "%d of %s failed, against %s\n", t.Failed, cli.Count(len(t.Cases), "case"), against)
	}
	if len(t.UnreachedRules) > 0 {
		fmt.Fprintf(&b, "no case is decided by %s\n", strings.Join(t.UnreachedRules, ", "))
	}
	return b.String()
}

// text returns the expected and the actual result of a case.
func (c *policyCase) text() string {
	expected := string(c.Expected)
	if c.ExpectedRule != nil {
		expected += by(*c.ExpectedRule)
	}
	s := fmt.Sprintf("%s: expected %s, got %s%s", c.Name, expected, c.Got, by(c.Rule))
	if c.Reason != "" {
		s += ": " + c.Reason
	}
	if c.Error != "" {
		s += " (" + c.Error + ")"
	}
	return s
}

func by(rule string) string {
	if rule == "" {
		return " without a rule"
	}
	return " by " + rule
}
