package pluginwire_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/pluginwire"
)

func TestManyCallsAtOnce(t *testing.T) {
	conn := open(t, echo, pluginwire.ConnConfig{})
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			arguments := fmt.Sprintf(`{"n":%d}`, i)
			call, err := conn.Start(t.Context(), pluginwire.Start{CallID: fmt.Sprint(i), Arguments: []byte(arguments), Complete: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer call.Close()
			out := outcome(t, call)
			wantText(t, out, arguments)
			if out.CallID != fmt.Sprint(i) {
				t.Errorf("call %d ended as %q", i, out.CallID)
			}
		})
	}
	wg.Wait()
}
