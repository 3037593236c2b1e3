package console

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/form"
	"github.com/toolhost/toolhost/tool"
)

//go:embed templates static
var files embed.FS

// pages are the templates by their names: each is the frame and one page.
var pages = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range []string{"login", "inbox", "decision", "run", "mine", "failure"} {
		all[name] = template.Must(template.ParseFS(files, "templates/frame.html", "templates/"+name+".html"))
	}
	return all
}()

// asset serves one file that is part of the program.
func asset(name, kind string) func(*visit) error {
	return func(v *visit) error {
		data, err := files.ReadFile("static/" + name)
		if err != nil {
			return err
		}
		v.w.Header().Set("Content-Type", kind)
		_, _ = v.w.Write(data) // the browser is gone
		return nil
	}
}

// noIcon answers browsers, which ask each site for a picture.
func noIcon(v *visit) error {
	v.w.WriteHeader(http.StatusNoContent)
	return nil
}

// render writes a page. data has what the page's template needs.
func (s *Server) render(v *visit, code int, name string, data map[string]any) error {
	all := map[string]any{"User": "", "Runs": s.config.Story != nil}
	if v.session != nil {
		all["User"] = shown(v.session.principal.Key())
	}
	maps.Copy(all, data)
	var page bytes.Buffer
	if err := pages[name].ExecuteTemplate(&page, "frame", all); err != nil {
		return tool.Errorf(tool.KindInternal, "the page %s cannot be written: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Length", strconv.Itoa(page.Len())) // so that the browser sees a page that breaks off
	v.w.WriteHeader(code)
	_, _ = v.w.Write(page.Bytes()) // the browser is gone
	return nil
}

// fail shows why a request failed.
func (s *Server) fail(v *visit, code int, message string) {
	if err := s.render(v, code, "failure", map[string]any{"Title": http.StatusText(code), "Message": linesOf(message)}); err != nil {
		s.config.Logger.Error("a page cannot be written", "error", err)
		http.Error(v.w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// maxListed is the number of decisions on a page of the inbox. A link leads to the next ones,
// because those that somebody else has to decide stay where they are.
const maxListed = 100

// row is a decision of the inbox.
type row struct{ Link, What, Detail, For, Ends, NotAllowed string }

// position returns where the events of a page begin. It is asked for before the page is read, so
// that no change is between them.
func (s *Server) position(v *visit) (string, error) {
	page, err := s.config.Agent.InboxPage(v.ctx, client.InboxQuery{PageSize: 1})
	return page.Position, err
}

func (s *Server) showInbox(v *visit) error {
	position, err := s.position(v)
	if err != nil {
		return err
	}
	page, err := s.config.Agent.InboxPage(v.ctx, client.InboxQuery{PageSize: maxListed, PageToken: v.r.FormValue("page")})
	if err != nil {
		return err
	}
	var rows []row
	for i := range page.Decisions {
		d := &page.Decisions[i]
		detail := d.Reason
		if d.Kind == client.DecideApproval {
			detail = string(d.Arguments)
		}
		rows = append(rows, row{
			Link: linkTo("/decisions/", d.Name), What: question(d), Detail: cli.Clip(shown(detail), 200), For: shown(d.Principal), Ends: endsIn(d), NotAllowed: shown(d.NotAllowed),
		})
	}
	var missing []string
	for _, text := range page.Unavailable {
		missing = append(missing, shown(text))
	}
	return s.render(v, http.StatusOK, "inbox", map[string]any{"Title": "Inbox", "Rows": rows, "Missing": missing, "Next": page.NextPageToken, "Position": position})
}

// linkTo returns the path of a decision or a run. Its name has slashes between its parts.
func linkTo(page, name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return page + strings.Join(parts, "/")
}

// question says in a few words what has to be decided.
func question(d *client.InboxDecision) string {
	named := d.Tool
	if d.DisplayName != "" && !strings.EqualFold(d.DisplayName, d.Tool) {
		named += " “" + d.DisplayName + "”" // the plugin chose it
	}
	return shown(map[client.DecisionKind]string{
		client.DecideApproval: "May " + named + " be called?",
		client.DecideQuestion: "The model asks",
		client.DecideOutcome:  "How did the call of " + named + " end?",
		client.DecidePause:    "A run got stuck. May it go on?",
		client.DecideTool:     "The tool " + named + " asks",
	}[d.Kind])
}

// endsIn says how long a decision waits, and that its end is a No, or for a question that nobody
// answers it.
func endsIn(d *client.InboxDecision) string {
	end := "left open "
	if d.Kind == client.DecideApproval || d.Kind == client.DecidePause {
		end = "a No "
	}
	switch left := time.Until(d.Expires); {
	case d.Expires.IsZero():
		return "waits without an end"
	case left <= 0:
		return end + "now"
	default:
		return end + "in " + cli.Age(left)
	}
}

// offer is a button of a decision.
type offer struct{ Verdict, Text, Class string }

// offersOf returns the buttons of a decision that waits. No first: it is what a slip should hit.
func offersOf(kind client.DecisionKind) []offer {
	switch kind {
	case client.DecideApproval:
		return []offer{{"reject", "Reject", "no"}, {"approve", "Approve", "yes"}}
	case client.DecideOutcome:
		return []offer{{"reject", "Leave it open", "no"}, {"answer", "It ended as I write", "yes"}, {"approve", "Call it once more", "yes"}}
	case client.DecidePause:
		return []offer{{"reject", "End the run", "no"}, {"approve", "Go on", "yes"}}
	}
	return []offer{{"reject", "Leave it open", "no"}, {"answer", "Answer", "yes"}}
}

// view is a decision as its page shows it. All texts are as shown returns them.
type view struct {
	Name, What, Tool, Plugin, For, Tenant, Agent, Session, Rule, Ends, NotAllowed string
	RunLink, Run                                                                  string
	Reason, Options                                                               []string
	Approvers                                                                     string
	FourEyes, Waiting, Call, Diffed                                               bool
	Fields, Rest, Context, Inputs                                                 []field // Rest comes after the diff
	Diff                                                                          []diffLine
	MoreDiff                                                                      int
	Whole                                                                         bool // the page shows the whole call
	Long                                                                          bool // it does not fit on a phone; see rows
	Offers                                                                        []offer
	Etag, RequestID, Post                                                         string
	Extend, Later                                                                 string // to where, and until when; empty: no more time can be given here
	Source                                                                        string // of events
	Made                                                                          []string
}

// viewOf returns what the page of a decision shows.
func viewOf(d *client.InboxDecision) view {
	v := view{
		Name: shown(d.Name), What: question(d), Tool: shown(d.Tool), Plugin: shown(d.Plugin), For: shown(d.Principal), Tenant: shown(d.Tenant), Agent: shown(d.Agent),
		Session: shown(d.Session), Rule: shown(d.Rule), Ends: endsIn(d), NotAllowed: shown(d.NotAllowed), FourEyes: d.FourEyes,
		Waiting: d.Waiting, Whole: !d.Cut, Etag: d.Etag, RequestID: "console-" + rand.Text(), Post: linkTo("/decisions/", d.Name), Approvers: shown(strings.Join(d.ApproverGroups, ", ")),
	}
	if d.RunID != "" {
		v.Run, v.RunLink = shown(d.RunID), linkTo("/runs/", d.RunID)
	}
	v.Source = shown(cmp.Or(d.RunID, d.Name))
	v.Reason = linesOf(clip(d.Reason, maxShown))
	for _, option := range d.Options {
		v.Options = append(v.Options, shown(option))
	}
	if d.Kind == client.DecideApproval || d.Kind == client.DecideOutcome {
		v.Call = true
		whole := false
		v.Fields, whole = fieldsOf(d.Arguments)
		v.Whole = v.Whole && whole
	}
	if d.Context != "" {
		whole := false
		v.Context, whole = fieldsOf([]byte(d.Context))
		v.Whole = v.Whole && whole
	}
	v.Diff, v.MoreDiff = diffOf(d.Diff)
	if i := slices.IndexFunc(v.Fields, func(f field) bool { return !slices.Contains(telling, f.Name) }); i >= 0 && len(v.Diff) > 0 {
		v.Fields, v.Rest = v.Fields[:i], v.Fields[i:] // the first lines of a diff have to be in view on a phone
	}
	if d.Kind == client.DecideTool {
		for i, f := range form.Fields(d.Schema) {
			v.Inputs = append(v.Inputs, field{Name: inputName(i), Lines: []string{shown(f.Prompt())}})
		}
	}
	if !d.Waiting {
		v.Made = madeBy(d)
		return v
	}
	v.Long = v.rows() > maxRows
	for _, o := range offersOf(d.Kind) {
		if o.Verdict != "reject" && (!v.Whole || d.NotAllowed != "") {
			continue
		}
		v.Offers = append(v.Offers, o)
	}
	later := cli.LaterEnd(d.Requested, d.Expires, 0)
	// How long the tool of a running call waits, the page does not know.
	if d.NotAllowed == "" && !d.Expires.IsZero() && later.After(d.Expires) && d.Kind != client.DecideTool {
		v.Extend, v.Later = linkTo("/extensions/", d.Name), later.UTC().Format(time.RFC3339Nano)
	}
	return v
}

const (
	// maxRows is how many rows of a call leave its buttons at the bottom of the screen. Where there
	// are more, the buttons come after the call: a person who approves it has scrolled past all of it.
	maxRows = 24
	// rowLength is how many characters have place in a row on a small phone.
	rowLength = 36
)

// rows returns about how many rows of a phone the call takes.
func (v *view) rows() int {
	rows := len(v.Diff)
	count := func(lines ...string) {
		for _, line := range lines {
			rows += 1 + utf8.RuneCountInString(line)/rowLength
		}
	}
	count(v.Reason...)
	for _, f := range slices.Concat(v.Fields, v.Rest, v.Context) {
		count(f.Name)
		count(f.Lines...)
		count(f.Notes...)
	}
	return rows
}

// madeBy says what became of a decision.
func madeBy(d *client.InboxDecision) []string {
	at := d.MadeTime.UTC().Format(time.DateTime) + " UTC"
	switch made := &d.Made; made.Verdict {
	case "":
		return []string{"It is not wanted any more, and nobody decided."}
	case client.Expired:
		return []string{"Nobody decided until " + at + ", which counts as a No."}
	default:
		past := map[client.Verdict]string{client.Approve: "approved", client.Reject: "rejected", client.Answer: "answered"}[made.Verdict]
		lines := []string{shown(made.Principal) + " " + past + " it at " + at + "."}
		if made.DecidedBy != "" {
			lines = append(lines, "Named: "+shown(made.DecidedBy))
		}
		if made.Text != "" {
			lines = append(lines, linesOf(made.Text)...)
		}
		return lines
	}
}

func (s *Server) showDecision(v *visit) error {
	position, err := s.position(v)
	if err != nil {
		return err
	}
	d, err := s.config.Agent.InboxDecision(v.ctx, v.r.PathValue("name"))
	if err != nil {
		return err
	}
	shows := viewOf(&d)
	return s.render(v, http.StatusOK, "decision", map[string]any{"Title": shows.What, "D": shows, "Position": position})
}

// decide sends the verdict of a person. The server compares the etag of what the page showed.
func (s *Server) decide(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the form cannot be read: %w", err)
	}
	sent := v.r.PostForm
	for key, values := range sent {
		if !utf8.ValidString(key + strings.Join(values, "")) {
			return tool.Errorf(tool.KindInvalidArgument, "the form has text that is not UTF-8, and nothing was decided")
		}
	}
	request := client.DecideRequest{
		Name: v.r.PathValue("name"), Etag: sent.Get("etag"), RequestID: sent.Get("request_id"), Verdict: client.Verdict(sent.Get("verdict")), Text: strings.ReplaceAll(sent.Get("text"), "\r\n", "\n"),
	}
	if request.Verdict == client.Answer || sent.Has("option") {
		asked, err := s.config.Agent.InboxDecision(v.ctx, request.Name)
		if err != nil {
			return err
		}
		if request.Text, err = answerOf(&asked, sent); err != nil {
			return err
		}
		request.Verdict = client.Answer
	}
	d, err := s.config.Agent.Decide(v.ctx, request)
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, linkTo("/decisions/", d.Name), http.StatusSeeOther)
	return nil
}

// extend gives a decision more time: until the end that the page named, so that a form that is sent
// twice gives it once.
func (s *Server) extend(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the form cannot be read: %w", err)
	}
	until, err := time.Parse(time.RFC3339Nano, v.r.PostForm.Get("until"))
	if err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the form does not say until when the decision shall wait; look at the decision again")
	}
	d, err := s.config.Agent.ExtendDecision(v.ctx, v.r.PathValue("name"), until)
	if err != nil {
		return err
	}
	http.Redirect(v.w, v.r, linkTo("/decisions/", d.Name), http.StatusSeeOther)
	return nil
}

// answerOf returns the answer of a form: the option that was pressed, the JSON object of the
// inputs, or the text.
func answerOf(d *client.InboxDecision, sent url.Values) (string, error) {
	if sent.Has("option") {
		i, err := strconv.Atoi(sent.Get("option"))
		if err != nil || i < 0 || i >= len(d.Options) {
			return "", tool.Errorf(tool.KindConflict, "the options are others by now, and nothing was decided; look again")
		}
		return d.Options[i], nil
	}
	var fields []form.Field
	if d.Kind == client.DecideTool {
		fields = form.Fields(d.Schema)
	}
	if len(fields) == 0 {
		return strings.ReplaceAll(sent.Get("text"), "\r\n", "\n"), nil
	}
	values := map[string]json.RawMessage{}
	for i := range fields {
		value, err := fields[i].Value(strings.ReplaceAll(sent.Get(inputName(i)), "\r\n", "\n"))
		if err != nil {
			return "", tool.Errorf(tool.KindInvalidArgument, "%s: %w; nothing was decided", fields[i].Name, err)
		}
		if value != nil {
			values[fields[i].Name] = value
		}
	}
	return string(form.Object(fields, values)), nil
}

// inputName is the name of the input for a field of a question.
func inputName(i int) string { return "in" + strconv.Itoa(i) }

// maxStory bounds the text of a run.
const maxStory = 512 << 10

func (s *Server) showRun(v *visit) error {
	if s.config.Story == nil {
		return tool.Errorf(tool.KindNotFound, "these pages have no runs")
	}
	id := v.r.PathValue("name")
	var story strings.Builder
	if err := s.config.Story(v.ctx, id, &story); err != nil {
		return err
	}
	text := story.String()
	cut := len(text) > maxStory
	if cut { // the end says what happens now
		text = strings.ToValidUTF8(text[len(text)-maxStory:], "")
	}
	return s.render(v, http.StatusOK, "run", map[string]any{"Title": "Run " + shown(id), "Text": cli.Visible(text), "Cut": cut})
}
