//go:build !race

package toolsearch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

// hay returns n tools that resemble those of a company: each service offers the same operations on
// the same objects, in the words that people search with.
func hay(n int) []tool.Info {
	services := strings.Fields("jira github gitlab notion asana trello zendesk salesforce hubspot stripe shopify airtable linear sentry datadog grafana " +
		"pagerduty confluence dropbox box figma intercom mailchimp twilio zoom teams discord bitbucket jenkins argocd kubernetes docker aws azure gcp " +
		"snowflake bigquery redshift looker tableau")
	verbs := []struct{ verb, text string }{
		{"list", "Lists all %s in %s, page by page, with filters."},
		{"get", "Gets one %s of %s by its id, with all of its fields."},
		{"create", "Creates a new %s in %s and returns its id."},
		{"update", "Updates the fields of a %s in %s."},
		{"delete", "Deletes a %s from %s for good."},
		{"search", "Searches %s in %s by words and returns the best matches."},
		{"export", "Exports %s from %s to a file, as CSV or JSON."},
		{"archive", "Archives a %s in %s so that it is read only."},
		{"assign", "Assigns a %s in %s to a user or a team."},
		{"comment", "Adds a comment to a %s in %s and notifies its followers by email."},
	}
	things := strings.Fields("issue project user team comment report dashboard invoice customer order task board page document file folder message channel " +
		"ticket event alert deployment pipeline branch repository")
	const schema = `{"type":"object","required":["id"],"properties":{"id":{"type":"string","description":"The id, as list returns it."},` +
		`"fields":{"type":"object","description":"What to change, by name.","properties":{"title":{"type":"string"},"text":{"type":"string"}}},` +
		`"limit":{"type":"integer","description":"How many at most."}}}`
	var infos []tool.Info
	for i := 0; len(infos) < n; i++ {
		service := services[i/len(verbs)/len(things)%len(services)]
		verb, thing := verbs[i/len(things)%len(verbs)], things[i%len(things)]
		infos = append(infos, tool.Info{Plugin: service, Spec: tool.Spec{
			Name:        fmt.Sprintf("%s_%s_%s", service, verb.verb, thing),
			Description: fmt.Sprintf(verb.text, thing, service),
			Category:    "work", Tags: []string{service, thing}, InputSchema: []byte(schema),
		}})
	}
	return infos
}

// needle is a tool, and the query of a person or a model that looks for it.
type needle struct {
	tool  tool.Info
	query string
}

func needles() []needle {
	one := func(query, name, description string, tags ...string) needle {
		return needle{tool.Info{Plugin: "needles", Spec: tool.Spec{Name: name, Description: description, Tags: tags}}, query}
	}
	return []needle{
		one("send a message to slack channel", "slack_post_message", "Posts a message to a channel or a person on Slack.", "chat"),
		one("read a file", "read_file", "Reads a text file of the workspace, whole or from a line on."),
		one("convert currency", "convert_currency", "Converts an amount of money from one currency to another at today's rate."),
		one("what is the weather tomorrow", "forecast", "Returns the weather forecast of a place for the next days."),
		one("compute the square root", "calculator", "Evaluates an arithmetic expression: powers, roots, trigonometry, exact integers."),
		one("run a shell command", "shell", "Runs a command line in a shell and returns what it printed and its exit code."),
		one("translate text into French", "translate_text", "Translates a text from one language to another.", "language"),
		one("take a screenshot of a website", "browser_screenshot", "Opens a web page and takes a picture of it."),
		one("query the postgres database", "query_db", "Runs a read-only SQL query against a PostgreSQL or SQLite database."),
		one("send an email with attachment", "send_email", "Sends an e-mail, with attachments if there are any."),
		one("resize images", "image_resize", "Changes the size of a picture and keeps its proportions."),
		one("extract text from a pdf", "pdf_to_text", "Extracts the text of a PDF document, page by page."),
		one("find flights to Tokyo", "search_flights", "Searches flights between two airports on a date."),
		one("stock price of a company", "stock_quote", "Returns the latest price of a share by its ticker symbol."),
		one("remind me in an hour", "set_reminder", "Sets a reminder for a point in time."),
		one("fetch a web page as markdown", "fetch", "Fetches a URL over HTTP and turns HTML into Markdown."),
		one("replace text in a file", "edit_file", "Replaces one piece of text in a file by another; the old text must be unique."),
		one("grep for a regular expression", "grep", "Searches the contents of files by a regular expression."),
		one("directory contents", "list_dir", "Lists what is in a directory of the workspace."),
		one("generate a qr code", "makeQRCode", "Makes a QR code from a text or a link."),
		one("shorten a long url", "url_shortener", "Makes a short link of a long one."),
		one("transcribe audio recording", "speech_to_text", "Transcribes speech in an audio or video recording."),
		one("text to speech", "tts", "Turns text to speech and returns an audio file."),
		one("time in another time zone", "world_clock", "Tells the current time in a time zone."),
		one("driving directions between two addresses", "route_planner", "Plans a route by car, by bike or on foot between two addresses, with directions."),
		one("hash a password", "bcrypt_hash", "Hashes a password with bcrypt and a new salt."),
		one("validate json against schema", "jsonschema_validate", "Validates a JSON value against a JSON Schema and names each violation."),
		one("play a song on spotify", "spotify_play", "Plays a song, an album or a playlist on Spotify."),
		one("turn off the lights", "smart_home_switch", "Turns lights, plugs and blinds of the home on or off."),
		one("dns lookup", "resolve_host", "Looks up the DNS records of a host name."),
		one("unzip archive", "extract_archive", "Extracts files from a zip, tar or gz archive; also known as unzip."),
		one("merge pull request", "git_merge_pr", "Merges a pull request into its base branch on any forge."),
	}
}

// TestNeedles checks that among 10,000 tools the right one is among the first three, and in 9 of 10
// cases the first.
func TestNeedles(t *testing.T) {
	infos := hay(10_000 - len(needles()))
	for _, n := range needles() {
		infos = append(infos, n.tool)
	}
	x := toolsearch.New(infos)
	first := 0
	for _, n := range needles() {
		rank, said := 0, []string{}
		for i, hit := range x.Search(n.query, nil, 5) {
			name := infos[hit.Tool].Spec.Name
			said = append(said, fmt.Sprintf("%s %.2f", name, hit.Score))
			if name == n.tool.Spec.Name {
				rank = i + 1
			}
		}
		switch {
		case rank == 1:
			first++
		case rank == 0 || rank > 3:
			t.Errorf("%q finds %s at place %d of %v", n.query, n.tool.Spec.Name, rank, said)
		default:
			t.Logf("%q finds %s at place %d of %v", n.query, n.tool.Spec.Name, rank, said)
		}
	}
	if least := len(needles()) * 9 / 10; first < least {
		t.Errorf("%d of %d are first, want %d", first, len(needles()), least)
	}
}

// TestHay checks that a query finds the one tool that matches all of its words among many that
// match most of them.
func TestHay(t *testing.T) {
	infos := hay(10_000)
	x := toolsearch.New(infos)
	for query, want := range map[string]string{
		"create a jira issue":                  "jira_create_issue",
		"delete stripe invoices":               "stripe_delete_invoice",
		"export customers from hubspot as csv": "hubspot_export_customer",
		"which pages are there in notion":      "notion_list_page",
		"tableau_get_dashboard":                "tableau_get_dashboard",
		"assign zendesk ticket to a user":      "zendesk_assign_ticket",
	} {
		hits := x.Search(query, nil, 3)
		if len(hits) == 0 || infos[hits[0].Tool].Spec.Name != want {
			t.Errorf("%q does not find %s first", query, want)
			for _, h := range hits {
				t.Logf("  %s %.3f", infos[h.Tool].Spec.Name, h.Score)
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	infos := hay(10_000)
	for b.Loop() {
		toolsearch.New(infos)
	}
}

func BenchmarkSearch(b *testing.B) {
	x := toolsearch.New(hay(10_000))
	for _, query := range []string{"send a message to slack channel", "create a jira issue", "file", "del", strings.Repeat("list all users by id with fields and export them ", 20)} {
		b.Run(query[:min(len(query), 20)], func(b *testing.B) {
			for b.Loop() {
				x.Search(query, nil, 10)
			}
		})
	}
}
