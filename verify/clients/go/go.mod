module divisi/clients

go 1.23

require github.com/sashabaranov/go-openai v1.43.0
