// Package webhook verifies and reads the webhooks of the billing service. The package links only libbillcore-webhook,
// a C library that contains no HTTP client.
//
// Pass the body exactly as it was received, because the signature covers the raw bytes: verify first, then parse.
//
//	verifier, err := webhook.NewVerifier(secret)
//	http.Handle("/webhooks", verifier.Handler(func(w http.ResponseWriter, r *http.Request, event *webhook.Event) { … }))
//
// Service interface: Authentication; Events, Request headers.
package webhook

/*
#cgo CFLAGS: -I${SRCDIR}/../internal/handle
#include "webhook.h"
*/
import "C"

import (
	"maps"
	"runtime"
	"runtime/cgo"
	"slices"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// DefaultHeader is the name of the header with the signature. Service interface: Events, Request headers.
const DefaultHeader = "Service-Signature"

// DefaultMaxBody is the size (bytes) of the largest body that a verifier without the option WithMaxBody accepts.
const DefaultMaxBody = 1 << 20

// Verifier checks the signatures of webhooks. A Verifier is safe for concurrent use. Close frees the keys of a
// Verifier; otherwise the garbage collector does.
type Verifier struct {
	handle  handle.Handle
	header  string
	maxBody int64
	clock   cgo.Handle
}

// Option is a setting of a verifier.
type Option func(*settings)

type settings struct {
	secrets   [][]byte
	accounts  map[string][][]byte
	header    string
	maxBody   int64
	freshness time.Duration
	fresh     bool
	anyLength bool
	clock     func() time.Time
}

// WithMoreSecrets adds secrets, for a period in which an old and a new secret are both in use. The verifier accepts a
// signature made with any of its secrets.
func WithMoreSecrets(secrets ...[]byte) Option {
	return func(s *settings) { s.secrets = append(s.secrets, secrets...) }
}

// WithHeader sets the name of the header with the signature; case does not matter.
func WithHeader(name string) Option { return func(s *settings) { s.header = name } }

// WithMaxBody sets the size (bytes) of the largest body that the verifier accepts. A larger body is refused before it
// is hashed.
func WithMaxBody(bytes int64) Option { return func(s *settings) { s.maxBody = bytes } }

// WithFreshness makes the verifier refuse (with ReasonStale) an event whose signed created_at cannot be read, or is
// more than limit before or after the present time. The check is off by default, because old events are legitimate:
// the service may retry a failed delivery much later. WithFreshness does not protect against replays: drop duplicates
// by account and id. A test.hook event is never refused as stale.
func WithFreshness(limit time.Duration) Option {
	return func(s *settings) { s.freshness, s.fresh = limit, true }
}

// WithClock sets the clock from which WithFreshness takes the present time; the default is the system's clock.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.clock = now } }

// WithAnyKeyLength makes the verifier accept secrets of any length except zero. Use WithAnyKeyLength only for test
// vectors and keys of other services: the service's secrets have 32 bytes, so another length usually means that the
// secret was copied wrongly.
func WithAnyKeyLength() Option { return func(s *settings) { s.anyLength = true } }

// NewVerifier makes a verifier with the endpoint's secret, 32 bytes; another length fails with ErrConfig. When secret
// is nil, only the secrets of WithMoreSecrets are used.
func NewVerifier(secret []byte, options ...Option) (*Verifier, error) {
	return newVerifier(secret, settings{}, options)
}

// NewVerifierForAccounts makes a verifier for an endpoint to which several accounts deliver, each with its own secrets,
// so that nobody can sign another account's events. A key of the map is the text of an account's Event.Account, such as
// "17". Unwrap, UnwrapHeader, Handler and Middleware accept an event only if the matching secret belongs to the account
// that the signed body names; otherwise, or if the body names no account, they fail with ReasonMismatch. A test.hook
// event matches any secret, because only its name is reliable. Verify and Stream, which do not parse the body, fail with
// ErrConfig. Two accounts may have the same secret. The indexes of secrets, as for Matches, count through all accounts, in
// the order of the map's sorted keys. NewVerifierForAccounts fails with ErrConfig when the map is empty, when a key is
// empty, when an account has no secret, and unless each secret has 32 bytes.
func NewVerifierForAccounts(accounts map[string][][]byte, options ...Option) (*Verifier, error) {
	if len(accounts) == 0 { // the secrets of WithMoreSecrets alone would make a verifier that sees no account
		return nil, model.NewError(model.ErrConfig, "no account was given: pass at least one, with its secrets")
	}
	return newVerifier(nil, settings{accounts: accounts}, options)
}

func newVerifier(secret []byte, given settings, options []Option) (*Verifier, error) {
	if err := model.LoadError(); err != nil {
		return nil, err
	}
	given.header, given.maxBody = DefaultHeader, DefaultMaxBody
	for _, option := range options {
		if option != nil {
			option(&given)
		}
	}
	native, clock, err := given.native()
	if err != nil {
		return nil, err
	}
	defer C.billcore_verifier_options_free(native)
	data, n := bytes(secret)
	made := C.bw_verifier(data, n, native)
	runtime.KeepAlive(secret)
	if made.status != C.BILLCORE_OK {
		deleteClock(clock)
		return nil, failure(made)
	}
	out := &Verifier{header: given.header, maxBody: given.maxBody, clock: clock}
	out.handle.Set(made.out, func(pointer unsafe.Pointer) {
		C.billcore_verifier_free((*C.billcore_verifier)(pointer))
		deleteClock(clock)
	}, 0)
	runtime.SetFinalizer(out, (*Verifier).Close)
	return out, nil
}

func (s *settings) native() (*C.billcore_verifier_options, cgo.Handle, error) {
	made := C.bw_options()
	if made.status != C.BILLCORE_OK {
		return nil, 0, failure(made)
	}
	native := (*C.billcore_verifier_options)(made.out)
	var err error
	apply := func(made C.bg_made) {
		if made.status != C.BILLCORE_OK && err == nil {
			err = failure(made)
		} else if made.status != C.BILLCORE_OK {
			C.billcore_error_free(made.err)
		}
	}
	add := func(secrets [][]byte) {
		for _, secret := range secrets {
			data, n := bytes(secret)
			apply(C.bw_add_secret(native, data, n))
		}
	}
	add(s.secrets)
	for _, account := range slices.Sorted(maps.Keys(s.accounts)) {
		name, n := chars(account)
		apply(C.bw_add_account(native, name, n))
		add(s.accounts[account])
	}
	name, n := chars(s.header)
	apply(C.bw_set_header(native, name, n))
	if s.maxBody < 0 {
		err = model.NewError(model.ErrConfig, "WithMaxBody must not be negative")
	} else {
		apply(C.bw_set_max_body(native, C.size_t(s.maxBody)))
	}
	if s.fresh {
		apply(C.bw_set_freshness(native, C.int64_t(handle.Milliseconds(s.freshness))))
	}
	if s.anyLength {
		apply(C.bw_any_length(native))
	}
	var clock cgo.Handle
	if s.clock != nil {
		clock = cgo.NewHandle(s.clock)
		apply(C.bw_set_clock(native, C.uintptr_t(clock)))
	}
	if err != nil {
		deleteClock(clock)
		C.billcore_verifier_options_free(native)
		return nil, 0, err
	}
	return native, clock, nil
}

func deleteClock(clock cgo.Handle) {
	if clock != 0 {
		clock.Delete()
	}
}

// Close frees the keys; later calls give ErrConfig. Closing again does nothing.
func (v *Verifier) Close() {
	if v != nil {
		v.handle.Close()
	}
}

func (v *Verifier) use() (*C.billcore_verifier, error) {
	if v != nil {
		if pointer, ok := v.handle.Use(); ok {
			return (*C.billcore_verifier)(pointer), nil
		}
	}
	return nil, model.NewError(model.ErrConfig, "the verifier is nil or closed: make one with NewVerifier")
}

// Verify checks the signature of a body and returns the index of the secret with which the service made the signature;
// 0 is the secret passed to NewVerifier. signature is the value of the signature header, or "" when the request has no
// such header. Verify neither copies nor parses the body. When the check fails, the error has the code ErrSignature and
// a Reason. For a verifier of NewVerifierForAccounts, Verify fails with ErrConfig: call Unwrap.
func (v *Verifier) Verify(body []byte, signature string) (int, error) {
	native, err := v.use()
	if err != nil {
		return 0, err
	}
	defer v.handle.Done()
	data, n := bytes(body)
	text, m := chars(signature)
	made := C.bw_verify(number(native), data, n, text, m)
	if made.status != C.BILLCORE_OK {
		return 0, model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	return int(made.index), nil
}

// Unwrap verifies the body as Verify does, then parses it. Unwrap fails with ErrDecode when the body is not an event.
func (v *Verifier) Unwrap(body []byte, signature string) (*Event, error) {
	native, err := v.use()
	if err != nil {
		return nil, err
	}
	defer v.handle.Done()
	data, n := bytes(body)
	text, m := chars(signature)
	return event(C.bw_unwrap(number(native), data, n, text, m))
}

// number converts a pointer to a number. Functions that are called often pass numbers to C: cgo searches pointer
// arguments for Go pointers, which takes time.
func number(native *C.billcore_verifier) C.uintptr_t {
	return C.uintptr_t(uintptr(unsafe.Pointer(native)))
}

func event(made C.bg_head) (*Event, error) {
	if made.status != C.BILLCORE_OK {
		return nil, model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	return model.NewEvent(handle.Event{
		Event: unsafe.Pointer(made.event), ID: handle.String(unsafe.Pointer(made.id.data), made.id.len),
		Kind: int32(made.kind), DataKind: int32(made.data_kind),
	}), nil
}

// UnwrapHeader finds the signature among the header fields of a request, then verifies and parses the body as Unwrap
// does. Several equal signatures, in repeated fields or joined by commas, count as one; different signatures are
// refused with ReasonMalformed.
func (v *Verifier) UnwrapHeader(body []byte, header map[string][]string) (*Event, error) {
	native, err := v.use()
	if err != nil {
		return nil, err
	}
	defer v.handle.Done()
	headers, err := nativeHeaders(header)
	if err != nil {
		return nil, err
	}
	defer C.billcore_headers_free(headers)
	data, n := bytes(body)
	return event(C.bw_unwrap_request(number(native), data, n, headers))
}

// nativeHeaders copies header fields to C; the caller frees the copy.
func nativeHeaders(header map[string][]string) (*C.billcore_headers, error) {
	made := C.bw_headers()
	if made.status != C.BILLCORE_OK {
		return nil, failure(made)
	}
	headers := (*C.billcore_headers)(made.out)
	for name, values := range header {
		for _, value := range values {
			key, n := chars(name)
			text, m := chars(value)
			if added := C.bw_add_header(headers, key, n, text, m); added.status != C.BILLCORE_OK {
				C.billcore_headers_free(headers)
				return nil, failure(added)
			}
		}
	}
	return headers, nil
}

// Secrets returns the number of secrets of the verifier; 0 when the verifier is closed.
func (v *Verifier) Secrets() int {
	native, err := v.use()
	if err != nil {
		return 0
	}
	defer v.handle.Done()
	return int(C.billcore_verifier_secret_count(native))
}

// Matches returns how many of the verified signatures were made with the secret with this index. You can remove a
// secret when its number of matches no longer grows.
func (v *Verifier) Matches(secret int) (uint64, error) {
	native, err := v.use()
	if err != nil {
		return 0, err
	}
	defer v.handle.Done()
	if secret < 0 {
		return 0, model.NewError(model.ErrInvalidArgument, "there is no secret %d", secret)
	}
	made := C.bw_matches(native, C.size_t(secret))
	if made.status != C.BILLCORE_OK {
		return 0, model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	return uint64(made.index), nil
}

// ParseUnverified parses the bytes of Event.Raw of an event that was verified earlier and then stored. ParseUnverified
// checks no signature and no age, so use it only for storage that the receiver alone can write to.
func ParseUnverified(raw []byte) (*Event, error) { return model.ParseUnverified(raw) }

// Sign returns the signature that the service would send (64 lowercase hex digits), so that you can test your receiver.
func Sign(body, secret []byte) (string, error) {
	data, n := bytes(body)
	key, m := bytes(secret)
	return owned(C.bw_sign(data, n, key, m))
}

// Explain returns a human-readable text that explains why a signature is refused. Explain tries the usual mistakes (the
// body serialised again, still in base64, with another line end; the signature in upper case or with a prefix; a secret
// with white space or in another encoding; another of the verifier's secrets) and names the mistake that explains this
// signature. Explain never accepts a signature, and shows neither a secret nor the right signature. Explain is slow: do
// not call it in a request path.
func Explain(body []byte, signature string, secrets ...[]byte) (string, error) {
	return ExplainWithHeader(body, signature, nil, secrets...)
}

// ExplainWithHeader does the same as Explain, but also looks at the header fields of the request, and notices a body
// that a proxy has unpacked (Content-Encoding).
func ExplainWithHeader(body []byte, signature string, header map[string][]string, secrets ...[]byte) (string, error) {
	headers, err := nativeHeaders(header)
	if err != nil {
		return "", err
	}
	defer C.billcore_headers_free(headers)
	given := settings{header: DefaultHeader, maxBody: DefaultMaxBody, secrets: secrets}
	native, _, err := given.native()
	if err != nil {
		return "", err
	}
	defer C.billcore_verifier_options_free(native)
	data, n := bytes(body)
	text, m := chars(signature)
	return owned(C.bw_explain(data, n, text, m, headers, native))
}

// owned copies a text of the C library into a Go string and frees the C text.
func owned(made C.bw_text) (string, error) {
	if made.status != C.BILLCORE_OK {
		return "", model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	out := handle.String(unsafe.Pointer(made.text.data), made.text.len)
	C.billcore_buf_free(&made.text)
	return out, nil
}

func failure(made C.bg_made) error {
	return model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
}

func bytes(b []byte) (*C.char, C.size_t) {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.size_t(len(b))
}

// chars returns a string as a C pointer and a length. chars returns a nil pointer for "", so that the C library reports
// a missing signature: http.Header.Get returns "" when a header is missing.
func chars(s string) (*C.char, C.size_t) {
	if s == "" {
		return nil, 0
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(s))), C.size_t(len(s))
}
