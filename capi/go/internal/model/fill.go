package model

// The functions below fill the field of a struct such as OrderFields from the getter of a record, unless an earlier
// field has failed.

func value[T any](failed *error, get func() (T, error)) T {
	var out T
	if *failed == nil {
		out, *failed = get()
	}
	return out
}

func optionalValue[T any](failed *error, get func() (T, bool, error)) *T {
	out, present := *new(T), false
	if *failed == nil {
		out, present, *failed = get()
	}
	if !present {
		return nil
	}
	return &out
}

func part[R, F any](failed *error, get func() (R, error), fields func(R) (F, error)) F {
	record := value(failed, get)
	return value(failed, func() (F, error) { return fields(record) })
}

func optionalPart[R, F any](failed *error, get func() (R, bool, error), fields func(R) (F, error)) *F {
	record := optionalValue(failed, get)
	if record == nil {
		return nil
	}
	out := value(failed, func() (F, error) { return fields(*record) })
	return &out
}

func parts[R, F any](failed *error, get func() ([]R, error), fields func(R) (F, error)) []F {
	records := value(failed, get)
	out := make([]F, len(records))
	for i, record := range records {
		out[i] = value(failed, func() (F, error) { return fields(record) })
	}
	return out
}
