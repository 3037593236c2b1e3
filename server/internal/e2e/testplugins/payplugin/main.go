// Command payplugin is a plugin for tests that pays at a bank: an HTTP server at the address in the
// variable BANK, which pays each request of a key that is not void. Its tools differ in what they
// can say later about a payment.
//
// No shipped program imports it.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	spec := func(name string) sdk.Spec {
		return sdk.Spec{Name: name, Description: "Pays.", Timeout: 10 * time.Minute}
	}
	sealed, dangerous := spec("pay_sealed"), spec("pay_dangerous")
	sealed.Seals, dangerous.Seals, dangerous.Dangerous = true, true, true
	sdk.Serve(sdk.Plugin{Name: "payplugin", Version: "1.0.0", Description: "Pays, for tests.", Permissions: sdk.Permissions{Network: true}, Tools: []sdk.Tool{
		sdk.Func(spec("pay_once"), pay),
		sdk.Settle(sdk.Func(spec("pay_looked"), pay), look),
		sdk.Settle(sdk.Func(sealed, pay), seal),
		sdk.Settle(sdk.Func(dangerous, pay), seal),
		sdk.Func(sdk.Spec{Name: "pay_balance", Description: "Tells the balance.", ReadOnly: true}, balance),
	}})
}

type payment struct {
	What string `json:"what" jsonschema:"what is paid"`
}

// ask asks the bank about the payment of a call, and returns its answer.
func ask(ctx context.Context, act string) (status int, answer string, err error) {
	query := url.Values{"key": {sdk.EffectKey(ctx)}, "call": {sdk.CallID(ctx)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("BANK")+act+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// pay waits before and after the payment, so that faults hit each step. Most payments are fast, and
// a few take longer than a toolhost may be silent.
func pay(ctx context.Context, in payment) (string, error) {
	hash := fnv.New32a()
	hash.Write([]byte(sdk.CallID(ctx) + in.What))
	sum := hash.Sum32()
	pause := time.Duration(sum%40) * time.Millisecond
	if sum%50 == 0 {
		pause = 6 * time.Second
	}
	if err := wait(ctx, pause); err != nil {
		return "", err
	}
	status, receipt, err := ask(ctx, "/pay")
	if err != nil {
		return "", err
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("the bank refuses: %s", receipt)
	}
	return "paid " + receipt, wait(ctx, pause)
}

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func look(ctx context.Context, _ payment) (sdk.Settlement, error) { return settle(ctx, "/look") }

func seal(ctx context.Context, _ payment) (sdk.Settlement, error) { return settle(ctx, "/seal") }

func settle(ctx context.Context, act string) (sdk.Settlement, error) {
	status, receipt, err := ask(ctx, act)
	switch {
	case err != nil:
		return sdk.Settlement{}, err
	case status == http.StatusOK:
		return sdk.Happened("paid " + receipt), nil
	default:
		return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen, Reason: "the bank has no payment"}, nil
	}
}

func balance(context.Context, payment) (string, error) { return "enough", nil }
