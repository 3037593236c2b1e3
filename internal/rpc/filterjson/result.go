package filterjson

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// encodeResult returns a result as ProtoJSON, without metadata in toolhost's name.
func encodeResult(r tool.Result) (json.RawMessage, error) {
	r.Metadata = withoutReserved(r.Metadata)
	if err := checkResult(&r); err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	text, err := protojson.Marshal(toolpb.FromResult(r))
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	return text, nil
}

func decodeResult(text json.RawMessage) (tool.Result, error) {
	var message toolv1.Result
	if err := protojson.Unmarshal(text, &message); err != nil {
		return tool.Result{}, fmt.Errorf("decoding a result: %w", err)
	}
	r := toolpb.ToResult(&message)
	if err := checkResult(&r); err != nil {
		return tool.Result{}, fmt.Errorf("decoding a result: %w", err)
	}
	return r, nil
}

// checkResult refuses what whoever reads a result relies on not to find in it.
func checkResult(r *tool.Result) error {
	for i := range r.Content {
		switch block := &r.Content[i]; {
		case block.Kind == "":
			return fmt.Errorf("block %d is empty", i+1)
		case block.Kind == tool.ContentJSON && !isJSON(block.JSON):
			return fmt.Errorf("block %d is no JSON", i+1)
		}
	}
	for i, effect := range r.Effects {
		if !isJSON(effect.Value) {
			return fmt.Errorf("the value of effect %d is no JSON", i+1)
		}
	}
	for key, value := range r.Metadata {
		if !isJSON(value) {
			return fmt.Errorf("the metadata %q is no JSON", clip(key, 80))
		}
	}
	return nil
}

func isJSON(value json.RawMessage) bool { return json.Valid(value) && utf8.Valid(value) }
