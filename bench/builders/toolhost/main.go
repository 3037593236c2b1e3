// Command toolhost is the plugin refunds, with the three tools of the comparison in
// docs/builders.md.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

type order struct {
	Order string `json:"order"`
}

type payment struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

type note struct {
	Order string `json:"order"`
	Text  string `json:"text"`
}

func find(_ context.Context, in order) (string, error) {
	return in.Order + ": 40 EUR, paid; the customer writes that it arrived broken", nil
}

func refund(ctx context.Context, in payment) (string, error) {
	file, err := os.OpenFile(filepath.Join(sdk.Workspace(ctx), "refunds.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer file.Close()
	fmt.Fprintln(file, in.Order, in.Amount)
	time.Sleep(2 * time.Second) // the bank, during which the test kills all processes
	return fmt.Sprintf("refunded %v", in.Amount), nil
}

func addNote(context.Context, note) (string, error) { return "noted", nil }

func main() {
	sdk.Serve(sdk.Plugin{Name: "refunds", Version: "1.0.0", Permissions: sdk.Permissions{Workspace: "write"}, Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "find_order", Description: "Returns what is known about an order.", ReadOnly: true}, find),
		sdk.Func(sdk.Spec{Name: "refund", Description: "Pays an amount of an order back.", Dangerous: true}, refund),
		sdk.Func(sdk.Spec{Name: "add_note", Description: "Adds a note to an order."}, addNote),
	}})
}
