package sdktest

import (
	"context"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/tool"
)

// Settle asks a tool what became of the call with the id of WithCallID and with these arguments, as
// Call accepts them. It executes nothing. The error says why the tool gave no answer, which
// toolhost treats as sdk.VerdictUnknown. The test fails if the result of the settlement does not
// fit the output schema: a toolhost would leave it out.
func (h *Host) Settle(name string, arguments any, options ...Option) (sdk.Settlement, *sdk.Error) {
	h.t.Helper()
	text, err := encode(arguments)
	if err != nil {
		h.t.Fatalf("encoding the arguments: %v", err)
	}
	o := h.options(name, options)
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	asked := &Stream{
		host: h, tool: name, info: o.info, kept: o.artifacts, answer: o.answer, cancel: cancel,
		pieces: make(chan piece, 1), changed: make(chan struct{}),
	}
	asked.pieces <- piece{text: text, complete: true}
	settlement, err := h.handler.Settle(ctx, o.info, (*incoming)(asked))
	if err != nil {
		return sdk.Settlement{}, tool.AsError(err)
	}
	if settlement.Result != nil {
		h.checkOutput(o.info, settlement.Result)
	}
	return settlement, nil
}
