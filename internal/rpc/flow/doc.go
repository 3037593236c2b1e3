// Package flow holds what calls that share one bidirectional stream need, so that none can hold up another: an Outbox
// that owns the stream's sending side, an Inbox per call that keeps what its reader has not taken yet, Credit, by
// which a sender knows how much the Inbox at the other end may still take, and a Lifetime per call, which is its context. It knows no contract: frames are a type
// parameter, sizes are what the caller says.
//
// The rule of credit is that of the contracts: a frame costs its size; it may be sent only while the credit is
// positive, and may take it below zero. So a window bounds what is queued to the window and one frame.
package flow
