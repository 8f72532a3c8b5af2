package model

import "billcore/internal/handle"

// The packages of this module make records with these.

// NewSubscription takes a resource of the C library.
func NewSubscription(from handle.Pointer) Subscription {
	return Subscription{record{doc: newDocument(from, 0)}}
}

// NewOrder takes a resource of the C library.
func NewOrder(from handle.Pointer) Order { return Order{record{doc: newDocument(from, 0)}} }

// NewProduct takes a resource of the C library.
func NewProduct(from handle.Pointer) Product { return Product{record{doc: newDocument(from, 0)}} }

// Page is a page of a list of the C library.
type Page struct{ page *page }

// NewPage takes a page that has count items.
func NewPage(from handle.Page, count int) Page {
	made := &page{from: from, count: count}
	made.document.page = made
	return Page{made}
}

// Len is the number of items.
func (p Page) Len() int { return p.page.count }

func (p Page) item(index int) record { return record{doc: &p.page.document, index: index} }

// Subscription gives an item of a page of subscriptions.
func (p Page) Subscription(index int) Subscription { return Subscription{p.item(index)} }

// Order gives an item of a page of orders.
func (p Page) Order(index int) Order { return Order{p.item(index)} }

// Product gives an item of a page of products.
func (p Page) Product(index int) Product { return Product{p.item(index)} }
