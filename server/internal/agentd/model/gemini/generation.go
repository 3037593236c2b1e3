package gemini

import (
	"regexp"
	"strconv"
	"strings"
)

// generation is what the package needs to know about a model, by the name of the model. The API
// does not tell it, and refuses requests with fields that a model does not have.
type generation struct {
	// thinks says that the model can return its thoughts.
	thinks bool
	// levels says that the amount of thinking is a level. Otherwise it is a number of tokens.
	levels bool
	// signs says that the model refuses function calls without a thought signature, accepts images
	// within the result of a function, and can combine a schema with functions.
	signs bool
	// pro says that the model always thinks.
	pro bool
}

var version = regexp.MustCompile(`^gemini-(\d+)(?:\.(\d+))?(?:-|$)`)

// generationOf reads a name such as gemini-2.5-flash or models/gemini-3-pro-preview. A name without
// a number, such as gemini-flash-latest, is of the latest generation. Names of other models have
// none of the features.
func generationOf(name string) generation {
	name = strings.TrimPrefix(name, "models/")
	if !strings.HasPrefix(name, "gemini-") {
		return generation{}
	}
	g := generation{thinks: true, levels: true, signs: true, pro: strings.Contains(name, "-pro")}
	if v := version.FindStringSubmatch(name); v != nil {
		major, _ := strconv.Atoi(v[1])
		minor, _ := strconv.Atoi(v[2])
		g.levels, g.signs = major >= 3, major >= 3
		g.thinks = major >= 3 || (major == 2 && minor >= 5)
	}
	if strings.Contains(name, "-image") || strings.Contains(name, "-tts") {
		g.thinks = g.signs && g.pro
	}
	return g
}
