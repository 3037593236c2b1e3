package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// NewTokenCommand returns the command `token`.
func NewTokenCommand(s Server, p cli.Process) *cobra.Command {
	shares := ""
	if s.Program == cli.Toolhost {
		shares = " With a database as records in toolhost.yaml,\n" +
			"the tokens are in it, for all toolhosts that share it, and a revoked one is refused at all of them within 10 seconds."
	}
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke the bearer tokens of the server",
		Long: fmt.Sprintf("A token lets a program call %[1]s from another machine, or under another name. The tokens are in the file\n"+
			"%[1]s-tokens.json of the state folder, as SHA-256 hashes. Only the server's user and root can read and change it.\n"+
			"A running %[1]s accepts a new token and refuses a revoked one at once.%[2]s", s.Program, shares),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCreateCommand(s, p), newListCommand(s, p), newRevokeCommand(s, p))
	return cmd
}

// store opens the store of tokens that the configuration names. Each change of the tokens is in the
// audit log before it is made. The caller must call close.
func (s Server) store(ctx context.Context) (_ *tokenstore.Store, _ Settings, close func() error, err error) {
	settings, err := s.Settings()
	if err != nil {
		return nil, Settings{}, nil, err
	}
	store := tokenstore.New(s.Program, settings.State)
	close = store.Close
	if settings.Shared != nil {
		shared, closeShared, err := settings.Shared(ctx)
		if err != nil {
			return nil, Settings{}, nil, err
		}
		store, close = tokenstore.NewShared(s.Program, shared), closeShared
	}
	store.Before = func(ctx context.Context, act tokenstore.Act, records []tokenstore.Record) error {
		return note(ctx, settings.Audit, act, records)
	}
	return store, settings, close, nil
}

// note writes a change of tokens to the audit log, which a server may write to at the same time.
// The principal of a line is that of the token, so that the auditors of its tenant see the line.
// The user of the command acts for it.
func note(ctx context.Context, file string, act tokenstore.Act, records []tokenstore.Record) (err error) {
	log, err := audit.Open(audit.Config{File: file, ToOwner: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, r := range records {
		reason := "expires " + r.Expires.Format(time.RFC3339)
		for _, part := range []struct {
			name   string
			values []string
		}{{"groups", r.Groups}, {"roles", r.Roles}, {"tools", r.Tools}} {
			if len(part.values) > 0 {
				reason += "; " + part.name + " " + strings.Join(part.values, ", ")
			}
		}
		principal := r.Principal()
		if err := log.Note(ctx, audit.Event{
			Kind: audit.OfCredential, Principal: principal.Key(), Via: authn.UserName(os.Getuid()), From: "command", Act: string(act), Target: r.ID,
			Outcome: audit.Allowed, Reason: reason,
		}); err != nil {
			return err
		}
	}
	return nil
}

// shownToken is a token, as -o json prints it.
type shownToken struct {
	ID        string     `json:"id"`
	Principal string     `json:"principal"`
	Tenant    string     `json:"tenant"`
	Groups    []string   `json:"groups"`
	Roles     []string   `json:"roles"`
	Tools     []string   `json:"tools"`
	State     string     `json:"state"`
	Created   time.Time  `json:"create_time"`
	CreatedBy string     `json:"created_by"`
	Expires   time.Time  `json:"expire_time"`
	Revoked   *time.Time `json:"revoke_time"`
	Note      string     `json:"note"`
	Token     string     `json:"token,omitempty"` // only of a new one
}

func shown(r *tokenstore.Record) shownToken {
	t := shownToken{
		ID: r.ID, Principal: r.Principal().Key(), Tenant: r.Tenant, Groups: append([]string{}, r.Groups...), Roles: append([]string{}, r.Roles...),
		Tools: append([]string{}, r.Tools...), State: r.State(time.Now()), Created: r.Created, CreatedBy: r.CreatedBy, Expires: r.Expires, Note: r.Note,
	}
	if !r.Revoked.IsZero() {
		t.Revoked = &r.Revoked
	}
	return t
}

func newCreateCommand(s Server, p cli.Process) *cobra.Command {
	var r tokenstore.Record
	var format cli.Format
	var file string
	lifetime := lifetimeFlag(tokenstore.DefaultLifetime)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a token and print it, once",
		Long: fmt.Sprintf("Create stores a token for the principal NAME and prints it. It cannot be printed again.\n"+
			"The token gives no right: auth.bindings in %[1]s.yaml gives roles to its principal, groups and tenant. --role and\n"+
			"--tools limit what of that the token may be used for. --tools alone also limits it to the role caller.\n"+
			"The token is the only output, or with --out the only content of a file that only the user can read. What it is for is\n"+
			"written to the error output. Secret scanners find tokens by the regular expression\n"+
			"%[1]s_[a-z2-7]{10}_[A-Z2-7]{59}.\n"+
			"With -o json it prints an object: id, principal, tenant, groups, roles, tools, state, create_time, created_by,\n"+
			"expire_time, revoke_time, note and, without --out, token.", s.Program),
		Example: fmt.Sprintf("  %s token create ci --tenant red --tools 'fs_*' --expires 7d --out ci.token", s.Program),
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(r.Tools) > 0 && s.Program == "agentd" {
				return cli.Usage("--tools: agentd cannot limit a run to some tools; bind the role caller to the principal with tools in toolhost.yaml")
			}
			if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
				return cli.Usage("--out: %s is no regular file", file)
			}
			store, settings, closeStore, err := s.store(cmd.Context())
			if err != nil {
				return err
			}
			defer closeStore()
			r.Name, r.CreatedBy = args[0], authn.UserName(os.Getuid())
			r.Expires = time.Now().Add(time.Duration(lifetime))
			if len(r.Tools) > 0 && len(r.Roles) == 0 {
				r.Roles = []string{"caller"}
			}
			token, created, err := store.Create(cmd.Context(), r)
			if err != nil {
				return err
			}
			t := shown(&created)
			switch {
			case file != "":
				err = atomicfile.Write(file, []byte(token+"\n"), 0o600)
			case format.JSON():
				t.Token = token
				err = cli.WriteJSON(p.Stdout, t)
			default:
				_, err = fmt.Fprintln(p.Stdout, token)
			}
			if err != nil {
				err = fmt.Errorf("writing the token: %w", err)
				if _, kept := store.Revoke(context.WithoutCancel(cmd.Context()), created.ID); kept != nil {
					return fmt.Errorf("%w; the token is valid, because %w; revoke it with: %s token revoke %s", err, kept, s.Program, created.ID)
				}
				return fmt.Errorf("%w; the token %s is revoked, so create another one", err, created.ID)
			}
			if format.JSON() {
				if file == "" {
					return nil
				}
				return cli.WriteJSON(p.Stdout, t)
			}
			principal := created.Principal()
			_, err = fmt.Fprintf(p.Err(), "created the token %s of %s, valid until %s; it is not shown again\n", created.ID, principal.Key(), created.Expires.Format(time.RFC3339))
			if d := settings.policy().Decide(principal, authz.Request{Right: authz.VersionRead}); !d.Allowed && err == nil {
				_, err = fmt.Fprintf(p.Err(), "note: the principal has no role yet: %s; add it under auth.bindings, and run: %s reload\n", d.Reason, s.Program)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.Tenant, "tenant", identity.DefaultTenant, "`TENANT` of the principal")
	f.StringSliceVar(&r.Groups, "group", nil, "`GROUP` of the principal; several with commas or several flags")
	f.StringSliceVar(&r.Roles, "role", nil, "limit the token to the rights of the `ROLE`: "+strings.Join(authz.Roles(), ", "))
	f.StringSliceVar(&r.Tools, "tools", nil, "limit the token to tools that match the `PATTERN`, such as 'fs_*'")
	f.StringVar(&file, "out", "", "write the token to `FILE`, with mode 0600, and do not print it; a file with that name is replaced")
	f.Var(&lifetime, "expires", "`TIME` until the token expires, such as 12h or 30d; at most "+strconv.Itoa(int(tokenstore.MaxLifetime.Hours()/24))+"d")
	f.StringVar(&r.Note, "note", "", "`TEXT` for the list of tokens, such as where the token is used")
	s.AddFlags(f)
	format.AddFlag(f)
	return cmd
}

func newListCommand(s Server, p cli.Process) *cobra.Command {
	var format cli.Format
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens",
		Long: "List prints the valid tokens, the newest first, without their secrets. Records of expired and revoked tokens stay for\n" +
			"90 days.\n" +
			"With -o json it prints an array of the objects of `create`, without token.",
		Example: fmt.Sprintf("  %s token list --all", s.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, _, closeStore, err := s.store(cmd.Context())
			if err != nil {
				return err
			}
			defer closeStore()
			records, err := store.List()
			if err != nil {
				return err
			}
			tokens, rows := []shownToken{}, [][]string{}
			for i := range records {
				t := shown(&records[i])
				if t.State != "valid" && !all {
					continue
				}
				tokens = append(tokens, t)
				rows = append(rows, []string{
					t.ID, t.Principal, dash(t.Groups), dash(t.Roles), dash(t.Tools), t.State, t.Expires.Local().Format("2006-01-02 15:04"), t.CreatedBy, t.Note,
				})
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, tokens)
			}
			return cli.WriteTable(p.Out(), p.Screen(), []string{"ID", "PRINCIPAL", "GROUPS", "ROLES", "TOOLS", "STATE", "EXPIRES", "CREATED BY", "NOTE"}, rows)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list expired and revoked tokens, too")
	s.AddFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func dash(values []string) string { return cmp.Or(strings.Join(values, ","), "-") }

func newRevokeCommand(s Server, p cli.Process) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Revoke tokens",
		Long: "Revoke makes tokens invalid for ever. A server that runs refuses them from now on, or within 10 seconds if the tokens\n" +
			"are in a database: for new connections, for RPCs on\n" +
			"open connections, and for further calls on open streams. Calls that run end normally.\n" +
			"ID is as `list` prints it, or a whole token. If one of several ids is unknown, no token is revoked.\n" +
			"With -o json it prints an array of the objects of `list`.",
		Example: fmt.Sprintf("  %s token revoke k3j9x2m4qa", s.Program),
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, settings, closeStore, err := s.store(cmd.Context())
			if err != nil {
				return err
			}
			defer closeStore()
			ids := slices.Clone(args)
			for i, id := range ids {
				ids[i] = idOf(s.Program, id)
			}
			records, err := store.Revoke(cmd.Context(), ids...)
			if err != nil {
				return fmt.Errorf("%w; `%s token list --all` lists the tokens", err, s.Program)
			}
			tokens := []shownToken{}
			for i := range records {
				t := shown(&records[i])
				tokens = append(tokens, t)
				if !format.JSON() {
					if _, err := fmt.Fprintf(p.Out(), "revoked the token %s of %s%s\n", t.ID, t.Principal, settings.takesEffect()); err != nil {
						return err
					}
				}
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, tokens)
			}
			return nil
		},
	}
	s.AddFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// idOf returns the id in a whole token, which a person may have found in a log. It returns other
// text unchanged.
func idOf(program, text string) string {
	if rest, found := strings.CutPrefix(text, program+"_"); found {
		id, _, _ := strings.Cut(rest, "_")
		return id
	}
	return text
}

// lifetimeFlag is the value of --expires.
type lifetimeFlag time.Duration

// String implements pflag.Value.
func (l *lifetimeFlag) String() string {
	if d := time.Duration(*l); d%(24*time.Hour) != 0 {
		return d.String()
	}
	return strconv.Itoa(int(time.Duration(*l).Hours()/24)) + "d"
}

// Type implements pflag.Value.
func (*lifetimeFlag) Type() string { return "TIME" }

// Set implements pflag.Value.
func (l *lifetimeFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, found := strings.CutSuffix(text, "d"); found {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is not a time such as 12h or 30d", text)
	}
	*l = lifetimeFlag(d)
	return nil
}
