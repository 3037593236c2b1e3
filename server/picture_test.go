package server_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The picture in README.md shows the commands of scripts/picture.sh, and the programs still have
// them. If it fails after a change of a command, run the script, and look at the picture.
func TestPicture(t *testing.T) {
	script, err := os.ReadFile("scripts/picture.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(script), "cat <<'END'\n")
	commands, _, found := strings.Cut(rest, "\nEND\n")
	listed, err := os.ReadFile("api/cli_commands.txt")
	if err != nil || !found {
		t.Fatal(err, found)
	}
	known := strings.Split(string(listed), "\n")
	flag, program := regexp.MustCompile(`--[a-z-]+`), regexp.MustCompile(`(?:toolhost|agentd) [a-z]+`)
	shown := pictureText(t, "docs/terminal.svg")
	for line := range strings.Lines(commands) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.Contains(shown, line) {
			t.Errorf("the picture does not show %q", line)
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, command := range program.FindAllString(line, -1) {
			wanted := []string{command}
			for _, name := range flag.FindAllString(line, -1) {
				wanted = append(wanted, command+" "+name+" ")
			}
			for _, want := range wanted {
				if !slices.ContainsFunc(known, func(k string) bool {
					return strings.TrimSuffix(k, experimentalMark) == want || strings.HasSuffix(want, " ") && strings.HasPrefix(k, want)
				}) {
					t.Errorf("%q is no command or flag any more", want)
				}
			}
		}
	}
	if strings.Contains(shown, "/tmp") || len(shown) > 5000 {
		t.Errorf("the picture shows paths of a machine, or too much:\n%s", shown)
	}
}

// pictureText returns the text of an SVG file, one line for each of its lines.
func pictureText(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var text strings.Builder
	for d := xml.NewDecoder(file); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			if token.Name.Local == "text" {
				text.WriteByte('\n')
			}
		}
	}
}
