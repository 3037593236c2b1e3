package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// encodingVersion is the version of the JSON of events that this program writes. It increases when
// a field changes its meaning. New optional fields do not need a new version. decode reads all
// versions up to this one.
const encodingVersion = 1

// encode returns a durable event as a record. It fails if a part of the event is not valid JSON.
func encode(p loop.Payload, at time.Time) (runstore.Record, error) {
	data, err := loop.Marshal(p)
	if err != nil {
		return runstore.Record{}, fmt.Errorf("encoding %s: %w", p.Type(), err)
	}
	return runstore.Record{Time: at, Type: string(p.Type()), Version: encodingVersion, Data: data}, nil
}

// errNewer says that a later version of this program wrote an event.
var errNewer = errors.New("use a newer agentd")

// decode returns the event in a record.
func decode(rec runstore.Record) (loop.Event, error) {
	if rec.Version < 1 || rec.Version > encodingVersion {
		return loop.Event{}, fmt.Errorf("event %d (%s) has encoding %d, and this program knows only up to %d; %w",
			rec.Seq, rec.Type, rec.Version, encodingVersion, errNewer)
	}
	p := loop.NewPayload(loop.Type(rec.Type))
	if p == nil {
		return loop.Event{}, fmt.Errorf("event %d is of the unknown type %q; %w", rec.Seq, rec.Type, errNewer)
	}
	if err := json.Unmarshal(rec.Data, p); err != nil {
		return loop.Event{}, fmt.Errorf("decoding event %d (%s): %w", rec.Seq, rec.Type, err)
	}
	if m, ok := p.(*loop.AssistantMessage); ok {
		if err := m.Bind(); err != nil {
			return loop.Event{}, fmt.Errorf("decoding event %d (%s): %w", rec.Seq, rec.Type, err)
		}
	}
	return loop.Event{Seq: rec.Seq, Time: rec.Time, Payload: p}, nil
}
