package billcoretests

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	billcore "billcore.example/go"
	"billcore.example/go/billcoretest"
)

// again runs one test of this program in a process of its own, in which the variable BILLCORE_AGAIN has the given
// value.
func again(t *testing.T, value string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), "BILLCORE_AGAIN="+value)
	command.Stderr = os.Stderr
	return command
}

// A call in flight is a parked goroutine, and so is a list that waits for a page: it has no thread, and needs little
// memory.
func TestCallsInFlightNeedLittle(t *testing.T) {
	if os.Getenv("BILLCORE_AGAIN") == "" { // the threads and the memory of earlier tests would count
		if out, err := again(t, "yes").Output(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		} else {
			t.Logf("%s", out)
		}
		return
	}
	s := serve(t, wrapped(order(1)))
	var begun atomic.Int64
	client := connect(t, s.URL, billcore.WithNoTimeout(), billcore.WithHooks(billcore.Hooks{
		OnRequest: func(context.Context, billcore.Attempt) { begun.Add(1) },
	}))
	ctx, cancel := context.WithCancel(background)
	var all sync.WaitGroup
	fly := func(count int, call func() error) {
		for range count {
			all.Add(1)
			go func() {
				defer all.Done()
				if err := call(); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}()
		}
	}
	get := func() error { _, err := client.Orders().Get(ctx, "hang"); return err }
	fly(400, get)
	fly(400, func() error { _, err := client.Subscriptions().Charge(ctx, "hang", 1, 1); return err })
	fly(200, func() error { _, _, err := client.Subscriptions().Orders(ctx, "hang").First(); return err })
	await(t, "1,000 calls are in flight", func() bool { return begun.Load() == 1000 })
	threads := func() int { return len(must(os.ReadDir("/proc/self/task"))) }
	few, most := threads(), runtime.GOMAXPROCS(0)+8
	if underRace {
		most++ // the race detector's own
	}
	before := resident(t)
	fly(10_000, get)
	await(t, "10,000 further calls are in flight", func() bool { return begun.Load() == 11_000 })
	kilobytes := (resident(t) - before) >> 10 / 10_000
	t.Logf("%d threads with 1,000 calls, %d with 11,000; %d KB a call", few, threads(), kilobytes)
	if few > most || threads() > most || (kilobytes > 24 && !underRace) {
		t.Fail()
	}
	cancel()
	all.Wait()
}

// Close ends the loop when the last call has ended: the goroutine and the descriptors of many calls do not stay.
func TestNothingStaysOfManyCalls(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range 20 {
		client := must(billcore.NewClient(billcore.WithBaseURL(s.URL+"/acct"), billcore.WithAPIKey(apiKey)))
		derived := must(client.With(billcore.WithMaxRetries(0)))
		var all sync.WaitGroup
		for i := range 32 {
			all.Add(1)
			go func() {
				defer all.Done()
				with := client
				if i%2 == 0 {
					with = derived
				}
				if _, err := with.Orders().Get(background, "o"); err != nil && !errors.Is(err, billcore.ErrConfig) {
					t.Error(err)
				}
				if i == 16 {
					_ = client.Close() // while others are in flight
				}
			}()
		}
		all.Wait()
		if _, err := derived.Orders().Get(background, "o"); err != nil {
			t.Fatal(err)
		}
		_ = derived.Close()
	}
	s.CloseClientConnections()
	await(t, "the loops are freed", func() bool { return runtime.NumGoroutine() <= goroutines && descriptors(t) <= files })
}

// A service charges 2,000 customers at once, and is told to stop in the middle: it says the outcome of each charge, and
// the ledger agrees.
func TestEveryOutcomeOfChargesAtOnceIsTold(t *testing.T) {
	const charges = 2000
	if given := os.Getenv("BILLCORE_AGAIN"); given != "" {
		chargeAtOnce(given, charges)
		return
	}
	account := billcoretest.NewAccount(t)
	service := again(t, fmt.Sprintf("%s %s %s %d", account.BaseURL, account.APIKey, account.IDs.Subscriptions["demo-active"],
		account.IDs.Products["one_time"]))
	lines := must(service.StdoutPipe())
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	account.Post("wait", billcoretest.Fields{"request": billcoretest.Fields{"operation": "charge"}, "count": 200})
	if err := service.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	told := map[int64]string{} // by amount, which differs between the charges
	for scan := bufio.NewScanner(lines); scan.Scan(); {
		var amount int64
		var outcome string
		if n, _ := fmt.Sscanf(scan.Text(), "charge %d: %s", &amount, &outcome); n == 2 {
			told[amount] = outcome
		}
	}
	if err := service.Wait(); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	made := map[int64]bool{}
	client := client(t, account)
	for order, err := range client.Subscriptions().Orders(background, account.IDs.Subscriptions["demo-active"], billcore.ListPerPage(200)).All() {
		made[must(must(order, err).Total())] = true
	}
	for i := range int64(charges) {
		amount := first + i
		counts[told[amount]]++
		switch told[amount] {
		case "charged":
			if !made[amount] {
				t.Errorf("%d was not made", amount)
			}
		case "not":
			if made[amount] {
				t.Errorf("%d was made", amount)
			}
		case "unknown":
		default:
			t.Errorf("%d: %q", amount, told[amount])
		}
	}
	if t.Log(counts); counts["charged"] == 0 || counts["not"] == 0 {
		t.Fatal("the signal did not arrive in the middle")
	}
}

const first = 1_000_000 // the amount of the first charge: no order of the demo data has it

// chargeAtOnce is the service. Before it ends, it prints a line for each charge.
func chargeAtOnce(given string, charges int64) {
	var url, key string
	var id billcore.ID
	var product int64
	must(fmt.Sscan(given, &url, &key, &id, &product))
	ctx, stop := signal.NotifyContext(background, syscall.SIGTERM)
	defer stop()
	client := must(billcore.NewClient(billcore.WithBaseURL(url), billcore.WithAPIKey(key), billcore.WithNoTimeout()))
	defer client.Close()
	var all sync.WaitGroup
	for i := range charges {
		all.Add(1)
		go func() {
			defer all.Done()
			outcome := "charged"
			if _, err := client.Subscriptions().Charge(ctx, id, product, first+i); errors.Is(err, billcore.ErrOutcomeUnknown) {
				outcome = "unknown"
			} else if err != nil {
				outcome = "not"
			}
			fmt.Printf("charge %d: %s\n", first+i, outcome)
		}()
	}
	all.Wait()
}
