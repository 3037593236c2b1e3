package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int64

// units are what may stand behind the number of a size, the largest first.
var units = [...]struct {
	name  string
	shift uint
}{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}

// String returns the size as a file says it, with the largest unit that keeps the number whole, such as "512MiB".
func (s Size) String() string {
	for _, u := range units {
		if s != 0 && s%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(s>>u.shift), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// parseSize reads a whole number of bytes, with or without a unit. The error is empty or says what was meant.
func parseSize(text string) (Size, error) {
	digits := strings.TrimRight(text, "BKMGTbkmgti ")
	suffix := text[len(digits):]
	value, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, errWrong
	}
	for _, u := range units {
		if suffix == u.name || suffix == "" && u.shift == 0 {
			if value > math.MaxInt64>>u.shift {
				return 0, errWrong
			}
			return Size(value << u.shift), nil
		}
	}
	if suffix = strings.TrimSpace(suffix); suffix == "" {
		return 0, errWrong
	}
	for _, u := range units { // 512MB, 512M, 512 MiB and 512mib all mean 512MiB to somebody
		if strings.EqualFold(suffix[:1], u.name[:1]) {
			return 0, fmt.Errorf("did you mean %s%s?", digits, u.name)
		}
	}
	return 0, errWrong
}
