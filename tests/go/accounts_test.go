package billcoretests

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"billcore/webhook"
)

func TestAccounts(t *testing.T) {
	others := []byte("whsec-of-somebody-else-entirely!")
	v, err := webhook.NewVerifierForAccounts(map[string][][]byte{"9": {others}, "17": {secret}, "3": {others}}, webhook.WithMaxBody(1000))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	receiver := v.Handler(nil)
	forged, err := webhook.Sign([]byte(paid), others)
	if err != nil {
		t.Fatal(err)
	}
	for signature, want := range map[string]int{signed(t, paid): 200, forged: 401} {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(paid))
		request.Header.Set(webhook.DefaultHeader, signature)
		answer := httptest.NewRecorder()
		receiver.ServeHTTP(answer, request)
		if answer.Code != want {
			t.Error(answer.Code, want)
		}
	}
	if count, err := v.Matches(0); count != 1 || err != nil { // the keys are sorted as texts: 17, 3, 9
		t.Fatal(count, err)
	}
	for _, accounts := range []map[string][][]byte{nil, {"17": {secret}}} {
		_, err = webhook.NewVerifierForAccounts(accounts, webhook.WithMoreSecrets(others))
		code(t, err, webhook.ErrConfig)
	}
}
