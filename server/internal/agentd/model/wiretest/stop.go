package wiretest

import (
	"errors"
	"net/http"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Stop is the expected outcome of a response that ends with a given reason.
type Stop struct {
	Reason  string           // the server's value
	Call    bool             // the response has a call
	Refused bool             // the model has refused
	Want    model.StopReason // empty means malformed: nothing of it may be executed or kept
}

// Stops checks how a model handles stop reasons. write returns the event stream of a response that
// ends with the reason of the test case.
func Stops(t *testing.T, stops []Stop, write func(s Stop) string, open func(*http.Client) (model.Model, error)) {
	t.Helper()
	for _, s := range stops {
		m, err := open(&http.Client{Transport: answering(write(s))})
		if err != nil {
			t.Fatal(err)
		}
		var response *model.Response
		var last error
		for chunk, err := range Check(t, m.Generate(t.Context(), model.Request{})) {
			if last = err; err == nil && chunk.Response != nil {
				response = chunk.Response
			}
		}
		failed, _ := errors.AsType[*model.Error](last)
		switch {
		case s.Want == "" && (response != nil || failed == nil || !failed.Malformed || !failed.Retryable || failed.Code != s.Reason):
			t.Errorf("%+v: %+v, %#v", s, response, last)
		case s.Want != "" && (response == nil || response.StopReason != s.Want):
			t.Errorf("%+v: %+v, %v", s, response, last)
		}
	}
}
