package chaos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	callTimeout = 2 * time.Second
	calmTimeout = time.Minute
	// slack is how long after its deadline the outcome of a call may arrive. toolhost itself must
	// not delay the outcome. Only a busy machine may delay it, by as much as the slowest call of a
	// calm plugin took.
	slack = 3 * time.Second
	// never is the time after its deadline from which the test treats a call as hanging.
	never = time.Minute
)

// misdeeds are the arguments of the calls to wild plugins. A third of them is harmless, so that
// calls also succeed.
var misdeeds = []string{
	`{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`,
	`{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`,
	`{"do":"exit","number":3}`, `{"do":"kill","number":11}`, `{"do":"kill","number":9}`, `{"do":"crash","text":"boom"}`,
	`{"do":"hang"}`, `{"do":"ignore"}`, `{"do":"stop"}`, `{"do":"disconnect"}`,
	`{"do":"flood","number":1000000}`, `{"do":"long_line","number":200000}`, `{"do":"print","text":"{\"@message\": 1}"}`,
	`{"do":"spawn","text":"group"}`, `{"do":"spawn","text":"session"}`, `{"do":"spawn","text":"bare"}`, `{"do":`, `{}`,
}

// call is one caller. It calls calm and wild plugins alternately until the chaos stops.
func (c *chaos) call(random *rand.Rand) {
	for n := 0; !c.over(); n++ {
		if n%2 == 0 {
			c.callCalm(calmPlugins()[random.IntN(calm)], fmt.Sprintf("%x", random.Uint64()))
			continue
		}
		call := tool.Call{
			Tool:      wildPlugins()[random.IntN(wild)],
			Session:   fmt.Sprintf("session-%d", random.IntN(3)),
			Arguments: json.RawMessage(misdeeds[random.IntN(len(misdeeds))]),
			Timeout:   callTimeout,
		}
		c.callWild(call, random.IntN(10) == 0)
	}
}

// callCalm calls a calm plugin. The call must succeed whatever happens to other plugins.
func (c *chaos) callCalm(plugin, text string) {
	// Marshal cannot fail for strings
	arguments, _ := json.Marshal(map[string]string{"do": "echo", "text": text})
	began := time.Now()
	outcome := c.execute(tool.Call{Tool: plugin, Arguments: arguments, Timeout: calmTimeout}, false)
	c.tally.took(time.Since(began))
	if outcome.Err != nil || outcome.Result.IsError || outcome.Result.Text() != text {
		c.t.Errorf("a call of %s, which was left alone, ended with %v %q", plugin, outcome.Err, outcome.Result.Text())
	}
	c.tally.calm.Add(1)
}

// callWild calls a wild plugin. The call may end in any way, but it must end. If cancels is true,
// the caller cancels the call.
func (c *chaos) callWild(call tool.Call, cancels bool) {
	outcome := c.execute(call, cancels)
	c.tally.wild(outcome)
	if err := outcome.Err; err != nil && (!kinds[err.Kind] || err.Message == "") {
		c.t.Errorf("a call of %s with %s ended with an error of kind %q: %q", call.Tool, call.Arguments, err.Kind, err.Message)
	}
}

// kinds are the kinds of errors that a call of a wild plugin may end with. KindInternal is not
// among them, because it would be a bug.
var kinds = map[tool.Kind]bool{
	tool.KindNotFound: true, tool.KindTimeout: true, tool.KindCancelled: true, tool.KindCrashed: true,
	tool.KindUnavailable: true, tool.KindOutcomeUnknown: true,
}

// execute makes one call and checks that it ends exactly once. The tally checks the delay at the
// end.
func (c *chaos) execute(call tool.Call, cancels bool) tool.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), call.Timeout+never)
	defer cancel()
	began := time.Now()
	e, err := c.client.Open(ctx, call, true)
	if err != nil {
		return tool.Outcome{Err: tool.AsError(err)}
	}
	defer e.Close()
	for {
		ev, err := e.Next(ctx)
		if err != nil {
			c.t.Errorf("a call of %s with %s did not end within %v of its deadline: %v", call.Tool, call.Arguments, never, err)
			return tool.Outcome{Err: tool.AsError(err)}
		}
		if ev.Started != nil && cancels {
			e.Cancel("its caller changed his mind")
		}
		if ev.Ended == nil {
			continue
		}
		c.tally.late(call, time.Since(began)-call.Timeout)
		if more, err := e.Next(ctx); !errors.Is(err, io.EOF) {
			c.t.Errorf("after the end of a call of %s came %+v, %v", call.Tool, more, err)
		}
		return *ev.Ended
	}
}
