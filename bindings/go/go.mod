module turnstile

go 1.21
