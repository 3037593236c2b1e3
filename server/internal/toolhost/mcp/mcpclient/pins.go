package mcpclient

import (
	"bytes"
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// A pin is the definition of a tool that the operator has trusted. The comment of offer says why
// each list of a server is compared with the pins.

// definition returns a tool's definition in the form in which definitions are compared. It is nil
// for one that cannot be encoded.
func definition(spec *tool.Spec) []byte {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil
	}
	return text
}

// repinLocked takes over what the operator has trusted since.
func (o *offer) repinLocked() {
	if o.conn.cfg.Pinned == nil {
		return
	}
	pins := o.conn.cfg.Pinned()
	if o.pinned != nil && len(pins) == len(o.pins) && (len(pins) == 0 || &pins[0] == &o.pins[0]) {
		return
	}
	o.pins, o.pinned = pins, make(map[string][]byte, len(pins))
	for i := range pins {
		o.pinned[pins[i].Name] = definition(&pins[i])
	}
}

// differsLocked reports whether a tool is not as the operator trusted it.
func (o *offer) differsLocked(name string, t offered) bool {
	return o.pinned != nil && (t.definition == nil || !bytes.Equal(o.pinned[name], t.definition))
}

// noteLocked logs the tools that differ from their pins and did not before.
func (o *offer) noteLocked(tools map[string]offered) {
	for name, now := range tools {
		before, had := o.tools[name]
		if _, known := o.pinned[name]; known && o.differsLocked(name, now) && !(had && o.differsLocked(name, before)) {
			o.conn.logf("the server changed the definition of the tool %q, which cannot be called until `toolhost trust %s`", name, o.conn.cfg.Plugin)
		}
	}
}
