package openai_test

import (
	"net/http"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

func openAt(base, key string, client *http.Client) (model.Model, error) {
	return openai.New(openai.Config{Model: "m", BaseURL: base, APIKey: key, HTTPClient: client})
}

func TestKeyAndConversationStayAtTheOrigin(t *testing.T) { wiretest.Redirects(t, openAt) }

func TestRedirectWithinTheOriginIsFollowed(t *testing.T) { wiretest.FollowsWithinItsOrigin(t, openAt) }

func TestLineWithoutEnd(t *testing.T) { wiretest.LongLines(t, openAt) }
