package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolhost/toolhost/sdk/egress"
)

// A tool that requests URLs which a model chooses. One range of the company's network is permitted
// beside the public addresses.
func Example() {
	office, err := egress.ParseGrant("10.20.0.0/16")
	if err != nil {
		panic(err)
	}
	transport := egress.Config{Rules: egress.Rules{Allow: []egress.Grant{office}}}.Transport()
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}

	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://169.254.169.254/latest/meta-data", http.NoBody)
	if err != nil {
		panic(err)
	}
	response, err := client.Do(request)
	if refused, ok := errors.AsType[*egress.Refusal](err); ok {
		fmt.Println("refused:", refused)
		return
	}
	if err != nil {
		fmt.Println("no answer:", err)
		return
	}
	fmt.Println(response.Status)
	if err := response.Body.Close(); err != nil {
		fmt.Println(err)
	}
	// Output: refused: it leads to a link-local address, where clouds have their metadata services
}
