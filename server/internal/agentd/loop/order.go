package loop

// order says how a call stands to the other calls of its response. The effects of a response are
// those of executing its calls with side effects one after the other, in the order in which the
// model wrote them. A call that only reads sees what the calls with side effects before it did, and
// nothing of what those after it do. So calls with side effects wait for everything before them,
// and reads run beside each other between them.
type order int

const (
	inOrder  order = iota // has side effects: it follows the effects and the reads before it
	reading               // changes nothing: it follows the effects before it
	anyOrder              // its order with others does not matter
)

// order returns the call's order. Calls in journals of earlier versions do not say that they read,
// so they keep the order of the response.
func (c *Call) order() order {
	switch {
	case c.System == SystemAskUser, c.Reads && !c.Parallel:
		return reading
	case c.System != "", c.Parallel:
		return anyOrder
	}
	return inOrder
}

// over reports whether the call has no effects any more: it has a result, or gets one at once.
func (c *callState) over() bool { return c.result != nil || c.settled != nil || c.refusal != "" }

// concludes reports whether the call waits for the other calls of the response, so that none of
// them waits for it.
func (c *Call) concludes() bool {
	return c.System == SystemAttemptCompletion || c.System == SystemFinalAnswer
}

// follows reports whether a call begins only when a call before it is over. serial says that a call
// of the response must run alone. A question for a person follows nothing, so that all that a
// response asks is asked together.
func (c *Call) follows(earlier *Call, serial bool) bool {
	switch {
	case earlier.concludes(), c.System == SystemAskUser:
		return false
	case serial:
		return true
	}
	switch c.order() {
	case inOrder:
		return earlier.order() != anyOrder
	case reading:
		return earlier.order() == inOrder
	}
	return false
}

// gate says which calls have to wait. It sees the calls of a response in their order.
type gate struct {
	serial bool
	busy   bool     // a call of the response is in progress
	before [3]*Call // by order, a call before that is not over
}

func (b *Batch) gate() gate {
	g := gate{serial: b.serial}
	for i := range b.list {
		g.busy = g.busy || b.list[i].running()
	}
	return g
}

// holds reports whether a call that is not in progress has to wait.
func (g *gate) holds(c *Call) bool {
	if g.serial && g.busy && c.System != SystemAskUser {
		return true
	}
	for _, earlier := range g.before {
		if earlier != nil && c.follows(earlier, g.serial) {
			return true
		}
	}
	return false
}

// pass goes on to the next call.
func (g *gate) pass(c *callState) {
	if !c.over() && !c.concludes() {
		g.before[c.order()] = &c.Call
	}
}
