package expr

import "math/big"

// maxRounding limits the absolute value of the second argument of round.
const maxRounding = 1000

func roundBy(to func(*big.Rat) *big.Int) func(*machine, int, []Number) (Number, error) {
	return func(m *machine, position int, a []Number) (Number, error) {
		r := a[0].exactly()
		if err := m.spend(position, size(r)*size(r)); err != nil {
			return Number{}, err
		}
		return exactInt(to(r)), nil
	}
}

// round rounds to a number of decimals, which may be negative. Halves round away from zero.
func round(m *machine, position int, a []Number) (Number, error) {
	decimals := int64(0)
	if len(a) == 2 {
		n, err := a[1].whole(position, "the second argument of round")
		if err != nil {
			return Number{}, err
		}
		if !n.IsInt64() || n.Int64() < -maxRounding || n.Int64() > maxRounding {
			return Number{}, errorAt(position, "round takes from %d to %d decimals, and got %s", -maxRounding, maxRounding, a[1].short())
		}
		decimals = n.Int64()
	}
	scale, err := m.wholePower(position, big.NewRat(10, 1), big.NewInt(decimals))
	if err != nil {
		return Number{}, err
	}
	r := a[0].exactly()
	if err := m.spend(position, (size(r)+size(scale.rat))*(size(r)+size(scale.rat))); err != nil {
		return Number{}, err
	}
	scaled := new(big.Rat).Mul(new(big.Rat).Abs(r), scale.rat)
	scaled.SetInt(floor(scaled.Add(scaled, big.NewRat(1, 2))))
	if r.Sign() < 0 {
		scaled.Neg(scaled)
	}
	return m.result(position, scaled.Quo(scaled, scale.rat))
}

// fold applies a function of two integers to any number of integers.
func fold(who string, f func(a, b *big.Int) *big.Int) func(*machine, int, []Number) (Number, error) {
	return func(m *machine, position int, arguments []Number) (Number, error) {
		result := new(big.Int)
		for i, argument := range arguments {
			n, err := argument.whole(position, who)
			if err != nil {
				return Number{}, err
			}
			if i == 0 {
				result.Abs(n)
				continue
			}
			if err := m.spend(position, (result.BitLen()/64+1)*(n.BitLen()/64+1)); err != nil {
				return Number{}, err
			}
			result = f(result, n)
			if _, err := m.result(position, new(big.Rat).SetInt(result)); err != nil {
				return Number{}, err
			}
		}
		return exactInt(result), nil
	}
}

func gcd(a, b *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, a, b) }

func lcm(a, b *big.Int) *big.Int {
	if a.Sign() == 0 || b.Sign() == 0 {
		return new(big.Int)
	}
	product := new(big.Int).Mul(a, b)
	return product.Abs(product).Quo(product, gcd(a, b))
}
