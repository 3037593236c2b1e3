package anthropic

import (
	"regexp"
	"strconv"
	"strings"
)

// generation is what the package needs to know about a model, by the name of the model. The API
// refuses requests with fields that a model does not have.
type generation struct {
	// adaptive says that the model decides itself how much it thinks, within an effort. Otherwise it
	// thinks only if the request has a number of tokens.
	adaptive bool
	// thinks says that the model thinks unless the request says otherwise.
	thinks bool
	// unthinking says that the model cannot think. The API refuses a request with thinking.
	unthinking bool
	// schemas says that the API can make the response fit a schema.
	schemas bool
}

var (
	newNames = regexp.MustCompile(`^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:[-@.]|$)`) // claude-opus-4-6
	oldNames = regexp.MustCompile(`^claude-(\d{1,2})(?:[-.](\d{1,2}))?(?:[-@]|$)`)      // claude-3-5-haiku, claude-2.1
)

// generationOf reads the version in a name. A Claude model without a version is of the latest
// generation. Models of other names, which compatible servers have, are like the first ones that
// thought.
func generationOf(name string) generation {
	if !strings.HasPrefix(name, "claude-") {
		return generation{}
	}
	v := newNames.FindStringSubmatch(name)
	if v == nil {
		v = oldNames.FindStringSubmatch(name)
	}
	if v == nil {
		return generation{adaptive: true, thinks: true, schemas: true}
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2])
	at := 100*major + minor
	return generation{adaptive: at >= 406, thinks: at >= 500, unthinking: at < 307, schemas: at >= 405}
}
