module example.com/sealwright

go 1.21
