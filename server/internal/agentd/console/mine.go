package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// given is a standing approval of a person. All texts but Post are as shown returns them.
type given struct{ Tool, Arguments, For, Calls, Ends, Post string }

// maxGiven bounds the standing approvals on the page, which are the newest ones.
const maxGiven = 200

// showMine shows what the person has decided, and on the first page the later calls that the person
// allowed. Decisions are there while toolhost, which has the approvals, does not answer.
func (s *Server) showMine(v *visit) error {
	token := v.r.FormValue("page")
	page, err := s.config.Agent.MadePage(v.ctx, client.InboxQuery{PageSize: maxListed, PageToken: token})
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
		rows = append(rows, row{Link: linkTo("/decisions/", d.Name), What: question(d), Detail: cli.Clip(shown(detail), 200), For: shown(d.Principal), Ends: madeWords(d)})
	}
	data := map[string]any{"Title": "What I decided", "Rows": rows, "Next": page.NextPageToken, "First": token == ""}
	if token == "" {
		data["Given"], data["Missing"] = s.givenBy(v)
	}
	return s.render(v, http.StatusOK, "mine", data)
}

// madeWords says what the person decided, and when.
func madeWords(d *client.InboxDecision) string {
	return "I " + map[client.Verdict]string{client.Approve: "approved", client.Reject: "rejected", client.Answer: "answered"}[d.Made.Verdict] +
		" it at " + d.MadeTime.UTC().Format(time.DateTime) + " UTC"
}

func (s *Server) givenBy(v *visit) (all []given, missing []string) {
	page, err := s.config.Agent.Approvals(v.ctx, tool.ApprovalQuery{PageSize: maxGiven})
	if err != nil {
		return nil, []string{"The later calls that you allowed are missing: " + shown(err.Error())}
	}
	for i := range page.Approvals {
		a := &page.Approvals[i]
		all = append(all, given{
			Tool: shown(a.Tool), Arguments: shown(cli.PermittedArguments(a)), For: shown(a.Principal), Calls: shown(cli.PermittedCalls(a)), Ends: "until " + a.Expires.UTC().Format(time.DateTime) + " UTC", Post: "/approvals/" + url.PathEscape(a.ID),
		})
	}
	if page.NextPageToken != "" {
		missing = []string{"There are more, which `agentd inbox mine` lists."}
	}
	return all, missing
}

// revoke ends a standing approval that the person gave.
func (s *Server) revoke(v *visit) error {
	if _, err := s.config.Agent.RevokeApproval(v.ctx, v.r.PathValue("id"), "on the pages of agentd"); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/mine", http.StatusSeeOther)
	return nil
}
