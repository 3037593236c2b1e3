package prove

import "math/rand/v2"

// place is where a call is when processes are killed.
type place string

// The places. The first three are boundaries: a call halts there until the processes are killed.
const (
	before   place = "before" // the call has begun, and nothing has happened
	during   place = "during" // the effect has begun, and has not happened
	after    place = "after"  // the effect has happened, and nothing has been answered
	anywhere place = "random" // after a random time
)

var boundaries = []place{before, during, after}

// victim is what is killed.
type victim string

// The victims.
const (
	thePlugin   victim = "plugin"
	theToolhost victim = "toolhost"
	theAgentd   victim = "agentd"
	all         victim = "all"
)

// includes reports whether a kill of v also kills one.
func (v victim) includes(one victim) bool { return v == one || v == all }

// kill is one disaster in the middle of a run.
type kill struct {
	at     place
	victim victim
	when   float64 // for anywhere: the part of the usual duration of a run
}

// plan returns n kills in a random order that a seed determines. Every victim is killed at every
// place before one is killed there again.
func plan(n int, seed uint64, agentd bool) []kill {
	victims := []victim{thePlugin, theToolhost, all}
	if agentd {
		victims = append(victims, theAgentd)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var kills, round []kill
	for len(kills) < n {
		round = round[:0]
		for _, v := range victims {
			for _, at := range append([]place{anywhere}, boundaries...) {
				round = append(round, kill{at: at, victim: v, when: random.Float64()})
			}
		}
		random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		kills = append(kills, round...)
	}
	return kills[:n]
}
