package flow

// What both contracts have in common where frames travel together as one message.
const (
	// MoreKey is the metadata by which an end says that it reads messages of more than one frame, with the value MoreValue.
	MoreKey   = "toolhost-more"
	MoreValue = "1"
	// TogetherBytes is what such messages have at most, where more than one frame fits at all: enough to share the cost of a
	// message among many calls, and less than what makes a receiver wait.
	TogetherBytes = 32 << 10
)

// SaidMore reports whether these values of MoreKey say that their sender reads messages of more than one frame.
func SaidMore(values []string) bool { return len(values) == 1 && values[0] == MoreValue }
