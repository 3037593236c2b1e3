package access

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// NewAuthCommand returns the command `auth`. whoami is its command that asks the server about the
// caller.
func NewAuthCommand(s Server, p cli.Process, whoami *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Explain who a caller is, and what a principal may do",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCanICommand(s, p), whoami)
	return cmd
}

// question is what `auth can-i` asks.
type question struct {
	as, tenant          string
	groups, roles, only []string
}

// answer is the result of `auth can-i`, as -o json prints it.
type answer struct {
	Allowed   bool   `json:"allowed"`
	Principal string `json:"principal"`
	RPC       string `json:"rpc"`
	Right     string `json:"right"`
	Tool      string `json:"tool"`
	Tenant    string `json:"tenant"`
	Reason    string `json:"reason"`
	// Lacks are the other rights of the RPC that the principal has not, each with the reason: what
	// they permit is denied.
	Lacks []lack `json:"lacks"`
}

// lack is a right that a principal has not.
type lack struct {
	Right  string `json:"right"`
	Reason string `json:"reason"`
}

// text says what the principal may not do within the RPC.
func (l lack) text() string {
	switch authz.Right(l.Right) {
	case authz.RunsApprove, authz.CallsApprove:
		return fmt.Sprintf("it approves no call, which needs %s: %s", l.Right, l.Reason)
	}
	return fmt.Sprintf("without %s, which permits more: %s", l.Right, l.Reason)
}

func newCanICommand(s Server, p cli.Process) *cobra.Command {
	var q question
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "can-i CALL [TOOL]",
		Short: "Decide whether a principal may use an RPC or a tool, and say why",
		Long: fmt.Sprintf("Can-i decides as the server does, with the section auth of %s.yaml. It needs no server and sends nothing.\n"+
			"CALL is an RPC, such as Call or AdminService/Reload, or a right, such as tools.call. TOOL is the name of a tool.\n"+
			"The groups of a principal come from its credential, so name them with --group. --role and --tools are those of a\n"+
			"token. One of the rights of an RPC is enough for yes; can-i names the others that the principal lacks, such as that\n"+
			"to approve. The exit code is 0 for yes and 1 for no.\n"+
			"With -o json it prints an object: allowed, principal, rpc, right, tool, tenant, reason, and lacks, each with right and reason.", s.Program),
		Example: fmt.Sprintf("  %[1]s auth can-i Call fs_read --as red/ada\n  %[1]s auth can-i Reload --as uid:1000", s.Program),
		Args:    cli.Arguments(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			settings, err := s.Settings()
			if err != nil {
				return err
			}
			a, err := q.decide(s, &settings, args)
			if err != nil {
				return err
			}
			if format.JSON() {
				err = cli.WriteJSON(p.Stdout, a)
			} else {
				word := "no"
				if a.Allowed {
					word = "yes"
				}
				_, err = fmt.Fprintf(p.Out(), "%s: %s\n", word, a.Reason)
				for _, l := range a.Lacks {
					fmt.Fprintf(p.Out(), "  %s\n", l.text())
				}
			}
			if err == nil && !a.Allowed {
				err = &cli.ExitError{Code: cli.ExitToolError}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.as, "as", "", "key of the `PRINCIPAL`: NAME in the tenant default, or TENANT/NAME")
	f.StringSliceVar(&q.groups, "group", nil, "`GROUP` of the principal; several with commas or several flags")
	f.StringVar(&q.tenant, "tenant", "", "`TENANT` that the call concerns (default: that of the principal)")
	f.StringSliceVar(&q.roles, "role", nil, "`ROLE` to which the token of the principal is limited")
	f.StringSliceVar(&q.only, "tools", nil, "`PATTERN` of tools to which the token of the principal is limited")
	s.AddFlags(f)
	format.AddFlag(f)
	return cmd
}

// decide answers the question.
func (q *question) decide(s Server, settings *Settings, args []string) (answer, error) {
	if q.as == "" {
		return answer{}, cli.Usage("--as is missing; write the key of a principal, such as --as red/ada")
	}
	tenant, name := identity.SplitKey(q.as)
	who := identity.Principal{Tenant: tenant, Name: name, Groups: q.groups}
	if len(q.roles)+len(q.only) > 0 {
		who.Scope = &identity.Scope{Roles: q.roles, Tools: q.only}
		if err := authz.CheckScope(*who.Scope); err != nil {
			return answer{}, cli.Usage("%w", err)
		}
	}
	if err := who.Check(); err != nil {
		return answer{}, cli.Usage("--as: %w", err)
	}
	if q.tenant != "" {
		if err := identity.CheckTenant(q.tenant); err != nil {
			return answer{}, cli.Usage("--tenant: %w", err)
		}
	}
	method, rights, err := s.find(args[0])
	if err != nil {
		return answer{}, err
	}
	a := answer{Principal: who.Key(), RPC: method, Tenant: q.tenant}
	if a.Tenant == "" {
		a.Tenant = who.Tenant
	}
	if len(args) > 1 {
		a.Tool = args[1]
	}
	policy := settings.policy()
	a.Lacks = []lack{}
	for _, right := range rights {
		d := policy.Decide(who, authz.Request{Right: right, Tenant: q.tenant, Tool: a.Tool})
		if !a.Allowed {
			a.Right, a.Allowed, a.Reason = string(right), d.Allowed, d.Reason
		}
		if !d.Allowed {
			a.Lacks = append(a.Lacks, lack{string(right), d.Reason})
		}
	}
	if !a.Allowed {
		a.Lacks = []lack{}
	}
	return a, nil
}

// find returns the RPC and the rights that a text names, or only the right.
func (s Server) find(text string) (method string, rights []authz.Right, err error) {
	if right := authz.Right(text); slices.Contains(authz.Rights(), right) {
		return "", []authz.Right{right}, nil
	}
	table := s.Rights()
	var found []string
	for _, full := range slices.Sorted(maps.Keys(table)) {
		if strings.HasSuffix(full, "/"+text) || strings.HasSuffix(full, "."+text) || full == text {
			found = append(found, strings.TrimPrefix(full, "/"))
		}
	}
	switch len(found) {
	case 1:
		return found[0], table["/"+found[0]], nil
	case 0:
		return "", nil, cli.Usage("%s has no RPC or right %q; write an RPC such as %s, or a right such as %s", s.Program, text,
			strings.TrimPrefix(slices.Sorted(maps.Keys(table))[0], "/"), authz.ToolsCall)
	}
	return "", nil, cli.Usage("%q names several RPCs: %s", text, strings.Join(found, ", "))
}
