package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// In a terminal, toolhost call asks the person each field, and shows the text of the plugin with
// its name and without terminal controls.
func TestAskedInATerminal(t *testing.T) {
	h := withAsker(t, "[person]")
	h.serve(t)
	arguments, err := json.Marshal(map[string]string{"message": attack()})
	if err != nil {
		t.Fatal(err)
	}
	shown := openScreen(t, 100).run(t, commandOf(t.Context(), h, "call", "ask_person", string(arguments)), map[string]string{
		"color, which color:": "red\r", "count, how many [integer]:": "3\r",
	})
	harmless(t, "the question", shown)
	for _, want := range []string{"the plugin askplugin asks for its tool ask_person", `the person chose {"color":"red","count":3}`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal does not show %q:\n%.3000q", want, shown)
		}
	}
	shown = openScreen(t, 100).run(t, commandOf(t.Context(), h, "call", "ask_person", `{"message":"Which?"}`), map[string]string{
		"color, which color:": "/decline\r",
	})
	if !strings.Contains(shown, "the person did not answer the question") {
		t.Errorf("after /decline, the terminal shows:\n%s", shown)
	}
}
